"""A process as text that others can check: what is not known of it is not guessed."""

from dataclasses import replace

import pytest

from wikitopics.session.system import UNKNOWN, Process

NOBODY = 999_999_999
"""No process has so high a number."""


def test_it_lives_until_its_number_is_free_or_anothers():
    own = Process.own()
    assert Process.from_text(own.as_text()) == own
    assert own.lives() is True
    assert UNKNOWN.lives() is None
    assert replace(own, pid=NOBODY).lives() is False
    assert replace(own, start="at another time").lives() is False


@pytest.mark.parametrize("pid", [Process.own().pid, NOBODY], ids=["own", "nobody"])
@pytest.mark.parametrize("unknown", [{"place": ""}, {"start": ""}, {"place": "another container"}], ids=str)
def test_without_its_place_or_its_start_nobody_knows(pid, unknown):
    assert replace(Process.own(), pid=pid, **unknown).lives() is None
