"""How large a session's file is expected to become, and how large a model in it may be."""

from dataclasses import replace

import numpy as np
import pytest

from tests.session.rows import settings
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.topics import check_size
from wikitopics.session.storage.writer import file_bytes


def kept(keep, **more):
    base = settings()
    return replace(base, values={**base.values, "keep_articles": keep, **more})


def growth(settings):
    return (file_bytes(settings, 8_000, 65_000_000) - file_bytes(settings, 8_000, 7_000_000)) / 58_000_000


def test_only_where_all_are_kept_the_file_grows_with_every_article():
    assert 50 < growth(kept("all")) < 500
    assert growth(kept("top")) == growth(kept("none")) == 0


def test_word_counts_that_are_kept_take_more_than_all_else():
    assert growth(kept("all", keep_counts=True)) > 2 * growth(kept("all"))


def test_articles_take_about_what_is_expected(cli, corpus_of, home, monkeypatch):
    monkeypatch.setattr("wikitopics.session.storage.articles.RECENT_ARTICLES", 1)
    many = corpus_of(1_540)
    run = ("train", *many.options(), "--topics", 5, "--held-out", 40)
    sizes = {}
    for keep in ("all", "none"):
        assert cli(*run, "--keep-articles", keep, "--session", keep).code == 0
        sizes[keep] = (home / f"{keep}.db").stat().st_size
    assert (sizes["all"] - sizes["none"]) / 1_500 == pytest.approx(growth(kept("all")), rel=0.5)


def test_a_model_may_be_as_large_as_four_arrays_of_its_topics():
    def state(arrays, more):
        topics = dict.fromkeys(map(str, range(arrays)), np.broadcast_to(0.0, (2_000, 100_000)))
        return {**topics, "more": np.broadcast_to(0.0, more * 2**17)}  # MiB; none of it takes memory

    check_size(state(4, 127), 2_000, 100_000)
    with pytest.raises(SessionError, match=r"at most 6,230 MB of such a model, not 6,231 MB"):
        check_size(state(4, 128), 2_000, 100_000)
