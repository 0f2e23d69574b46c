"""Sessions made in Python, opened by the program: their texts are gone."""

import pytest

from tests.wikitopics.in_python.learning import learn
from wikitopics.cli import screen
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.texts.files import GIVEN, check_paths
from wikitopics.session.paths import session_path


@pytest.mark.filterwarnings("ignore:short texts")
@pytest.mark.usefixtures("home", "trainers_run_here")
def test_no_trainer_is_started_for_texts_that_are_gone(monkeypatch):
    learn(session="given")
    shown = []
    monkeypatch.setattr(screen, "need_terminal", lambda _: None)
    monkeypatch.setattr(screen, "check_meant", lambda *_: None)
    monkeypatch.setattr(
        screen, "show", lambda path, *more, **told: shown.append((path, more, told)) or 0
    )
    screen.open_screen("given", {"notify": None})
    assert shown == [(session_path("given"), (), {"notify": None, "says": screen.MADE_IN_PYTHON})]


def test_a_trainer_says_that_only_the_program_has_the_texts(tmp_path):
    with pytest.raises(BadSource, match="only that program can give them again"):
        check_paths([str(tmp_path / f"given{GIVEN}")])
