"""The lines around a view: status above, keys below, and a line to type into."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.strip import Strip
from textual.widgets import Input

from wikitopics.session.records import Status
from wikitopics.session.sources import described, unit_noun
from wikitopics.tui.inks import Clickable, Drawn, Line, Part
from wikitopics.tui.session_view import Replay
from wikitopics.tui.terminal import bindings, table
from wikitopics.tui.text import age, clock, count, limited, share, squeezed, visible

# The top line: whether the trainer is alive, what it reads, its progress, and when it last saved.
#
# The line itself never looks alive: what it says comes from the trainer's heartbeat.

BESIDE = 32
"""Cells kept free around the reason for a wait: for the state before it and the article count after
it."""
AGED = 10.0
"""Seconds after which the last save is of no interest if nothing has changed since."""


STATES: Mapping[str, Sequence[str]] = table("signs.toml")["states"]
"""The sign, the words and the ink for each state of the trainer."""


def condition(status: Status) -> tuple[str, str, str]:
    """(sign, words, ink) for the state of the trainer."""
    stalled = status.state == "stalled"
    state = (
        "hindered"
        if status.hindered
        else "suspended"
        if stalled and status.suspended
        else status.state
    )
    sign, words, ink = STATES[state]
    if stalled:
        words += f" for {age(status.heartbeat_age_seconds or 0.0)}"
    return sign, words + (f" ({status.death})" if status.death else ""), ink


def source_words(status: Status) -> str:
    """Where the articles come from; the embedded sample is never passed off as Wikipedia."""
    return described(status.source).shown(visible(status.source_name))


def window_title(status: Status | None, session: Path, trouble: str = "") -> str:
    """The title of the terminal's window or tab: "live 1,187 · 1.6%, 12 h left · night ·
    wikitopics".

    The state comes first, or what hinders the trainer.
    """
    if trouble or status is None:
        state = "cannot read" if trouble else "opening"
    elif status.hindered:
        state = f"waiting: {visible(status.waiting_for or '')}"
    else:
        measured = [model.perplexity for model in status.models if model.perplexity is not None]
        state = condition(status)[1].lower() + "".join(f" {value:,.0f}" for value in measured[:1])
        if status.lively and (so_far := progress(status)):
            state += f" · {so_far}"
    return f"{state} · {session.stem} · wikitopics"


# The line below the view while the demo is slowed down: what there is to see at that moment.

CAPTIONS = (
    "A small wiki is being read. Its first texts are kept to evaluate the topics.",
    "Words used together become topics. The lower the curve, the better they fit.",
    "The topics have settled. Enter opens one, 7 shows their map, 3 what was read.",
)
SETTLED = 0.4
"""The last caption is shown once this share of the source has been read."""


def caption(status: Status) -> str:
    """The caption of this moment; "" if the demo is not slowed down."""
    if not status.activity.pace:
        return ""
    return CAPTIONS[
        (status.articles > 0) + (status.articles > 0 and (status.lap or 0.0) >= SETTLED)
    ]


def progress(status: Status, total: str = "") -> str:
    """How much of the source has been read, and the time left: "1.6%, 12 h left"; "" if neither is
    known.

    ``total``: of what, as in "1.6% of 6.0M read, 12 h left".
    """
    parts = [f"{share(status.lap)}{total}"] if status.lap is not None else []
    if status.state == "running" and status.seconds_left is not None:
        parts.append(f"{age(status.seconds_left)} left")
    return ", ".join(parts)


Pieces = list[tuple[int, Line]]
"""(rank, parts): the higher the rank, the earlier it is dropped if there is no room."""


def pieces(
    s: Status | None,
    trouble: str,
    frozen: float | None,
    replay: Replay | None,
    width: int,
    *,
    offers: bool = True,
) -> Pieces:
    """The parts of a line of ``width`` cells. ``trouble``: why the session cannot be read now;
    ``frozen``: seconds since the view froze; ``offers``: whether to name the keys that command the
    trainer."""
    if s is None:
        return [(0, [("wikitopics", "strong")]), (0, [(trouble or "opening …", "muted")])]
    sign, words, ink = condition(s)
    if trouble:  # then the trainer's state is not known
        sign, words, ink = "!", f"cannot read the session: {visible(trouble)}", "bad"
    out: Pieces = [(6, [("wikitopics", "strong")]), (0, [(f"{sign} {words}", ink)])]
    if replay is not None:  # the trainer's present state does not belong there
        return (out if trouble else out[:1]) + _replayed(replay, s)
    if s.hindered and not trouble:
        # A file's name is enough here: the view below and the log show the whole path.
        wait = re.sub(r"^/[^:]*/", "", visible(s.activity.wait(time.time())))
        out.append((1, [(squeezed(wait, width - BESIDE), "warn")]))
        if s.may_retry and offers:
            out.append((2, [("T tries now", "muted")]))
    if s.state in ("dead", "stopped") and offers and not trouble:
        out.append((2, [("R restarts it", "muted")]))
    if frozen is not None:
        out.append((0, [(f"VIEW FROZEN {age(frozen)}", "warn")]))
    out.append((2, [(source_words(s), "")]))
    name = s.session.rsplit("/", 1)[-1].removesuffix(".db")
    out.append((7, [(f"session {visible(name)}", "muted")]))
    if s.running and s.pid:
        out.append((8, [(f"pid {s.pid}", "muted")]))
    out.append((5, [(clock(s.elapsed_seconds), "muted")]))
    total, noun = limited(s.activity.article_limit, s.articles), unit_noun(s.source, s.passes)
    noun = noun[:-1] if s.articles == 1 and not total else noun
    out.append((1, [(count(s.articles), "strong"), (f"{total} {noun}", "")]))
    if s.passes > 1 and not s.added:
        out.append((3, [(f"pass {count(s.pass_)} of {count(s.passes)}", "")]))
    if s.lively and not trouble and (so_far := progress(s)):
        out.append((3, [(so_far, "")]))
    if trouble:  # the time of the last save is not known
        return out
    if s.checkpoint_age_seconds is None:
        out += [(4, [("nothing to save yet", "muted")])] if s.running else []
    elif s.lively and s.activity.unsaved is False and s.checkpoint_age_seconds > AGED:
        out.append((4, [("nothing new to save", "muted")]))
    else:
        late = (
            s.running
            and s.checkpoint_age_seconds > 120
            and s.state == "running"
            and not s.waiting_for
        )
        saved = f"saved {age(s.checkpoint_age_seconds)} ago"
        out.append((4, [(saved, "warn" if late else "muted")]))
    return out


def _replayed(replay: Replay, status: Status) -> Pieces:
    """Say that the view shows the past, which point of it, and how to get back."""
    reading = status.pass_of(replay.articles) if status.passes > 1 and not status.added else 0
    texts = unit_noun(status.source, status.passes)
    return [
        (0, [(f"{'▶' if replay.playing else '‖'} REPLAY", "warn")]),
        (1, [(count(replay.articles), "strong"), (f" of {count(replay.points[-1])} {texts}", "")]),
        *([(2, [(f"pass {count(reading)} of {count(status.passes)}", "")])] if reading else []),
        (2, [(source_words(status), "")]),
        (3, [("space pauses, ←→ step, Esc ends", "muted")]),
    ]


def fitted(pieces: Pieces, width: int) -> Line:
    """The pieces, two spaces apart, the highest ranks dropped until the rest fit ``width``."""
    rest = list(pieces)
    while sum(2 + sum(cell_len(text) for text, _ in parts) for _, parts in rest) > width:
        worst = max(rank for rank, _ in rest)
        if worst == 0:
            break
        rest.remove(next(piece for piece in reversed(rest) if piece[0] == worst))
    line: Line = []
    for _, parts in rest:
        line += [("  " if line else " ", ""), *parts]
    return line


# The bottom line: the views and the keys that apply now; every word of it can be clicked.

KEYS = 32
"""Cells kept free for the keys beside the names of the views: enough for Help, Quit and
Unfreeze."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A key, what it does, and the action that a click runs."""

    key: str
    label: str
    action: str
    active: bool = False
    stays: bool = False
    """Whether it is kept when there is no room for other hints."""


class KeyBar(Drawn):
    """Shows as many hints as fit: those that stay, then the others, the most important first."""

    _views: Sequence[Hint] = ()
    _keys: Sequence[Hint] = ()

    def show(self, views: list[Hint], keys: list[Hint]) -> None:
        """The views first, then the keys."""
        self._views, self._keys = views, keys
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return self.strip([], width)
        brief = sum(len(_text(hint)) for hint in self._views) + KEYS > width
        parts: list[Part] = []
        at = 0
        owed = sum(len(_text(hint)) for hint in self._keys if hint.stays)
        for hint in [*self._views, *self._keys]:
            is_view = hint in self._views
            text = _text(hint, brief=is_view and brief)
            if hint.stays:
                owed -= len(text)
            elif not is_view and at + len(text) + owed > width:
                continue
            if at + len(text) > width:
                break
            inks = ("cursor", "cursor") if hint.active else ("accent", "muted" if is_view else "")
            cells = len(hint.key) + 1
            for piece, ink in zip((text[:cells], text[cells:]), inks, strict=True):
                parts.append((Clickable(piece, action=hint.action), ink))
            at += len(text)
        return self.strip(parts, width)


def _text(hint: Hint, *, brief: bool = False) -> str:
    """The hint as it is written; ``brief``: no more than its key, unless it is active."""
    text = f" {hint.key}" if brief and not hint.active else f" {hint.key} {hint.label}"
    return text if brief else text + " "


# A line to type into.

MOST = 1_000
"""Characters. A line is redrawn at each key press, which takes long for a line of a megabyte."""
NOTHING_TURNED = "[^\u202a-\u202e\u2066-\u2069]*"
"""No character that reverses what the terminal shows after it."""


class TextField(Input):
    """An input for names, addresses and files; what is pasted beyond its limits is refused."""

    def __init__(self, value: str = "", **more: Any) -> None:
        super().__init__(value, compact=True, max_length=MOST, restrict=NOTHING_TURNED, **more)


# The line for typing what to find; results show as the user types.


class FindBar(Horizontal):
    """The line to search with: Enter keeps what was found, Escape discards it."""

    BINDINGS = bindings("find")

    def compose(self) -> ComposeResult:
        yield TextField()

    def open(self, what: str) -> None:
        """Show the line; ``what`` says what can be found here."""
        line = self.query_one(Input)
        with self.prevent(Input.Changed):
            line.value = ""
        line.placeholder = f"find {what}"
        self.add_class("-open")
        self.screen.set_focus(line)  # now, not by a message: keys already typed are meant for it

    def take(self, typed: str) -> None:
        """Add text typed before the line had the focus, which went to the widget that had it
        then."""
        line = self.query_one(Input)
        if self.has_class("-open") and self.screen.focused is line:
            line.insert_text_at_cursor(typed)

    def shut(self) -> None:
        """Hide the line and change nothing."""
        self.remove_class("-open")

    def action_let_go(self) -> None:
        line = self.query_one(Input)
        line.post_message(Input.Submitted(line, ""))
