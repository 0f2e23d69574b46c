"""The top line: whether the trainer is alive, what it reads, its progress, and when it last saved.

It never looks alive by itself: what it says comes from the trainer's heartbeat.
"""

from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len

from wikitopics.session.records import Status
from wikitopics.session.sources import described
from wikitopics.tui.inks import Lines, Part
from wikitopics.tui.replay import Replay
from wikitopics.tui.words import age, clock, count, limited, visible


def condition(status: Status) -> tuple[str, str, str]:
    """(sign, words, ink) for the state of the trainer."""
    return {
        "stalled": ("!", f"NO SIGN OF LIFE for {age(status.heartbeat_age_seconds or 0.0)}", "bad"),
        "new": ("○", "NEW", "muted"),
        "starting": ("◌", "STARTING", "warn"),
        "running": ("●", "LIVE", "good"),
        "paused": ("‖", "PAUSED", "warn"),
        "stopping": ("◍", "STOPPING", "warn"),
        "stopped": ("■", "STOPPED", "muted"),
        "finished": ("✓", "FINISHED", "good"),
        "dead": ("✗", "TRAINER DIED", "bad"),
    }[status.state]


def source_words(status: Status) -> str:
    """Where the articles come from; the embedded sample is never passed off as Wikipedia."""
    return described(status.source).shown(visible(status.source_name))


def window_title(status: Status | None, session: Path, trouble: str = "") -> str:
    """The title of the terminal's window or tab: "live 1,187 · night · wikitopics", the state first."""
    if trouble or status is None:
        state = "cannot read" if trouble else "opening"
    else:
        measured = [model.perplexity for model in status.models if model.perplexity is not None]
        state = condition(status)[1].lower() + "".join(f" {value:,.0f}" for value in measured[:1])
    return f"{state} · {session.stem} · wikitopics"


class StatusLine(Lines):
    """One line that drops the least important parts if the terminal is narrow."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._status: Status | None = None
        self._trouble = ""
        self._frozen: float | None = None
        self._replay: Replay | None = None
        self.ascii_only = False

    def show(
        self,
        status: Status | None,
        trouble: str = "",
        frozen: float | None = None,
        replay: Replay | None = None,
    ) -> None:
        """``trouble``: why the session cannot be read now; ``frozen``: seconds since the view froze."""
        self._status, self._trouble, self._frozen = status, trouble, frozen
        self._replay = replay and replace(replay)
        self.redraw()

    def lines(self, width: int, height: int) -> list[list[Part]]:
        return [fitted(self._pieces(), width)]

    def _pieces(self) -> list[tuple[int, list[Part]]]:
        """(rank, parts): the higher the rank, the earlier it is dropped if there is no room."""
        if self._status is None:
            return [(0, [("wikitopics", "strong")]), (0, [(self._trouble or "opening …", "muted")])]
        s = self._status
        sign, words, colour = condition(s)
        if self.ascii_only:
            sign = sign if sign.isascii() else "*"
        name = s.session.rsplit("/", 1)[-1].removesuffix(".db")
        if self._trouble:  # then the trainer's state is not known
            sign, words, colour = "!", f"cannot read the session: {visible(self._trouble)}", "bad"
        pieces: list[tuple[int, list[Part]]] = [
            (6, [("wikitopics", "strong")]),
            (0, [(f"{sign} {words}", colour)]),
        ]
        if self._replay is not None:
            shown = pieces if self._trouble else pieces[:1]  # the trainer's present state has no place here
            return [*shown, *_replayed(self._replay, s, ascii_only=self.ascii_only)]
        if s.state in ("dead", "stopped") and not self._trouble:
            pieces.append((3, [("R restarts it", "muted")]))
        if self._frozen is not None:
            pieces.append((0, [(f"VIEW FROZEN {age(self._frozen)}", "warn")]))
        pieces.append((2, [(source_words(s), "")]))
        pieces.append((7, [(f"session {visible(name)}", "muted")]))
        if s.running and s.pid:
            pieces.append((8, [(f"pid {s.pid}", "muted")]))
        pieces.append((5, [(clock(s.elapsed_seconds), "muted")]))
        total = limited(s.activity.article_limit, s.articles)
        articles = "article" if s.articles == 1 and not total else "articles"
        pieces.append((1, [(count(s.articles), "strong"), (f"{total} {articles}", "")]))
        if self._trouble:  # when it was last saved is not known
            return pieces
        if s.checkpoint_age_seconds is not None:
            late = s.running and s.checkpoint_age_seconds > 120 and s.state == "running" and not s.waiting_for
            saved = f"saved {age(s.checkpoint_age_seconds)} ago"
            pieces.append((4, [(saved, "warn" if late else "muted")]))
        elif s.running:
            pieces.append((4, [("nothing to save yet", "muted")]))
        return pieces


def _replayed(replay: Replay, status: Status, *, ascii_only: bool) -> list[tuple[int, list[Part]]]:
    """Say that the view shows the past, which point of it, and how to get back."""
    sign = (">" if ascii_only else "▶") if replay.playing else ("=" if ascii_only else "‖")
    return [
        (0, [(f"{sign} REPLAY", "warn")]),
        (1, [(count(replay.articles), "strong"), (f" of {count(replay.points[-1])} articles", "")]),
        (2, [(source_words(status), "")]),
        (3, [("space pauses, ←→ step, Esc ends", "muted")]),
    ]


def fitted(pieces: list[tuple[int, list[Part]]], width: int) -> list[Part]:
    """The pieces, two spaces apart, the highest ranks dropped until the rest fit ``width``."""
    kept = list(pieces)
    while True:
        length = 2 + sum(cell_len(text) for _, parts in kept for text, _ in parts) + 2 * (len(kept) - 1)
        worst = max((rank for rank, _ in kept), default=0)
        if length <= width or worst == 0:
            break
        kept.remove(next(piece for piece in reversed(kept) if piece[0] == worst))
    line: list[Part] = [(" ", "")]
    for i, (_, parts) in enumerate(kept):
        line += [("  ", "")] if i else []
        line += parts
    return line
