"""What the screen says of a session that reads its documents several times."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui import chart
from wikitopics.tui.look import Choice, SessionView
from wikitopics.tui.views.crawl import facts, finished
from wikitopics.tui.widgets.bars import pieces


@pytest.fixture
def several(trained):
    """The state of a session of 657 documents, in the second of three passes, and one of a single pass."""
    with SessionReader(trained) as reader:
        once = reader.status()
    return replace(once, articles=900, documents=657, passes=3, pass_=2), once


def line(status, replay=None):
    return "  ".join(
        "".join(text for text, _ in parts) for _, parts in pieces(status, "", None, replay, False)
    )


def test_the_first_line_has_the_pass_then_and_now(several):
    status, once = several
    assert "pass 2 of 3" in line(status)
    assert "pass" not in line(once)
    replay = SimpleNamespace(playing=True, articles=600, points=[64, 600, 900])
    assert "pass 1 of 3" in line(status, replay)
    assert "pass" not in line(once, replay).removesuffix("space pauses, ←→ step, Esc ends")


def test_readings_are_on_the_x_axis(several):
    status, once = several

    def title(status, x_kind):
        return chart.title(SessionView(status, 0.0), Choice(), x_kind)

    assert title(status, "articles").endswith(" over readings")
    assert title(status, "words").endswith(" over words")
    assert title(once, "articles").endswith("documents over documents")
    assert title(replace(once, source="api"), "articles").endswith("articles over articles")


def test_the_pace_is_that_of_readings(several):
    status, once = several

    def overall(status):
        return next(told for name, told, _ in facts(SessionView(status, 0.0)) if name == "overall")

    assert overall(status).endswith(" readings an hour")
    assert overall(once).endswith(" documents an hour")


def test_the_end_says_how_often_all_was_read(several):
    status, once = several
    assert finished(status) == "finished: every document has been read 3 times"
    assert finished(once) == "finished: every document has been read once"
    assert finished(replace(once, source="api")) == "finished: every article has been read once"
