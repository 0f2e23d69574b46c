"""Scores of articles before they are trained on."""

import pytest

from wikitopics.model import Minibatch, kinds
from wikitopics.session.records import Progress, Scored
from wikitopics.session.training.held_out import newest_scores, scored


def test_the_window_is_the_fewest_minibatches_of_a_thousand_articles_and_nothing_has_no_mean():
    window = ()
    for _ in range(40):
        window = newest_scores(window, Scored(64, 10, (-70.0, -80.0)))
    assert sum(one.articles for one in window) == 1024
    assert Progress(prequential=window).predicted(1) == pytest.approx(-8.0)
    assert newest_scores(window, Scored(1024, 5, (-1.0, -1.0))) == (Scored(1024, 5, (-1.0, -1.0)),)
    nothing = Minibatch([0, 0], [], [])
    model = kinds.load("lda").create(4, 40, 1000)
    assert Progress().predicted(0) is None
    assert Progress(prequential=(scored([model], nothing, 0),)).predicted(0) is None
