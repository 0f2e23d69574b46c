"""Bars for whoever waits in Python."""

from tests.bars import Bar
from wikitopics.stored import progress_bars


def test_each_kind_of_work_has_a_bar_and_all_are_closed(monkeypatch):
    bars = []

    def bar(**properties):
        bars.append(Bar(**properties))
        return bars[-1]

    monkeypatch.setattr(progress_bars, "tqdm_if_seen", lambda wanted: bar)
    try:
        with progress_bars.following() as advance:
            advance("titles", 5, 20)
            advance("titles", 20, 20)
            advance("rows", 7, 0)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert [(bar.unit, bar.n, bar.total) for bar in bars] == [
        (" titles", 20, 20),
        (" rows", 7, None),
    ]
    assert all(bar.closed for bar in bars)


def test_nothing_is_shown_to_nobody(monkeypatch):
    monkeypatch.setattr(progress_bars, "tqdm_if_seen", lambda wanted: None)
    with progress_bars.following() as advance:
        advance("titles", 5, 20)
