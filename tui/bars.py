"""The lines around a view: status above, keys below, and a line to type into."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.strip import Strip
from textual.widgets import Input

from wikitopics.session.records import Status
from wikitopics.session.sources import kind_named, singular, unit_noun
from wikitopics.tui.inks import Clickable, Drawn, Line, Part, line_cells
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
LATE = 120.0
"""Seconds after which a trainer that trains should have saved."""


STATES: Mapping[str, Sequence[str]] = table("signs.toml")["states"]
"""The sign, the words and the ink for each state of the trainer."""


def condition(status: Status) -> tuple[str, str, str]:
    """(sign, words, ink) for the state of the trainer."""
    is_stalled = status.state == "stalled"
    state: str = status.state
    if status.hindered:
        state = "hindered"
    elif is_stalled and status.suspended:
        state = "suspended"
    sign, words, ink = STATES[state]
    if is_stalled:
        words += f" for {age(status.heartbeat_age_seconds or 0.0)}"
    if status.death:
        words += f" ({status.death})"
    return sign, words, ink


def source_words(status: Status) -> str:
    """Where the articles come from; the embedded sample is never passed off as Wikipedia."""
    return kind_named(status.source).shown(visible(status.source_name))


def window_title(status: Status | None, session: Path, trouble: str = "") -> str:
    """The title of the terminal's window or tab: "live 1,187 · 1.6%, 12 h left · night ·
    wikitopics".

    The state comes first, or what hinders the trainer.
    """
    if trouble:
        state = "cannot read"
    elif status is None:
        state = "opening"
    elif status.hindered:
        state = f"waiting: {visible(status.waiting_for or '')}"
    else:
        _, words, _ = condition(status)
        state = words.lower()
        measured = [model.perplexity for model in status.models if model.perplexity is not None]
        if measured:
            state += f" {measured[0]:,.0f}"
        so_far = progress(status)
        if status.lively and so_far:
            state += f" · {so_far}"
    return f"{state} · {session.stem} · wikitopics"


# The line below the view while the demo is slowed down: what there is to see at that moment.

AT_FIRST = "A small wiki is being read. Its first texts are kept to evaluate the topics."
AS_TOPICS_FORM = "Words used together become topics. The lower the curve, the better they fit."
OF_SIGNS = "Before names: = nearly all models with other seeds have it, ~ some, ? few."
AS_THEY_START_OVER = "Topics start over once, from what articles have in common: the list changes."
ONCE_SETTLED = "The topics have settled. Enter opens one, 7 shows their map, 3 what was read."
EXPLAIN_SIGNS = 0.25
"""The signs before names are explained from here on, until topics start over."""
START_OVER = 0.45
"""The share of the source that has been read shortly before the demo's topics start over."""
STARTING_OVER = range(4_000, 29_000)
"""How many articles have been read by then: in a smaller wiki topics never start over, in a larger
one earlier."""
SETTLED = 0.6
"""The last caption is shown once this share of the source has been read."""


def caption(status: Status) -> str:
    """The caption of this moment; "" if the demo is not slowed down."""
    if not status.activity.pace:
        return ""
    if status.articles == 0:
        return AT_FIRST
    if status.activity.starting_over:
        return AS_THEY_START_OVER
    read = status.lap or 0.0
    if read >= SETTLED:
        return ONCE_SETTLED
    if read >= START_OVER and status.articles in STARTING_OVER:
        return AS_THEY_START_OVER
    if read >= EXPLAIN_SIGNS and status.replicas:
        return OF_SIGNS
    return AS_TOPICS_FORM


def progress(status: Status, total: str = "") -> str:
    """How much of the work is done, and the time left: "1.6%, 12 h left"; "" if neither is known.

    ``total``: what follows the share, as `share_of` gives it.
    """
    parts = [f"{share(status.lap)}{total}"] if status.lap is not None else []
    if status.time_left:
        parts.append(status.time_left)
    return ", ".join(parts)


def share_of(status: Status, source: str) -> str:
    """What follows the share that is done: " of 6.0M read", if all of a source is read once.
    ``source``: what it is called, or how many articles it has; "" if that is not known.

    The user's own documents, and those of several passes, are read again: of these, " done".
    """
    if kind_named(status.source).own or status.passes > 1:
        return " done"
    return f" of {source} read" if source else " read"


Piece = tuple[int, Line]
"""A rank and parts: the higher the rank, the earlier the piece is dropped if there is no room; rank
0 is never dropped."""


def pieces(
    status: Status | None,
    trouble: str,
    frozen: float | None,
    replay: Replay | None,
    width: int,
    *,
    offers: bool = True,
    reading: str = "",
) -> list[Piece]:
    """The parts of a line of ``width`` cells. ``trouble``: why the session cannot be read now;
    ``frozen``: seconds since the view froze; ``offers``: whether to name the keys that command the
    trainer; ``reading``: what a view waits for."""
    if status is None:
        return [(0, [("wikitopics", "strong")]), (0, [(trouble or "opening …", "muted")])]
    program: Piece = (6, [("wikitopics", "strong")])
    if trouble:  # then the trainer's state is not known
        state: Piece = (0, [(f"! cannot read the session: {visible(trouble)}", "bad")])
    else:
        sign, words, ink = condition(status)
        state = (0, [(f"{sign} {words}", ink)])
    if replay is not None:  # the trainer's present state does not belong there
        start = [program, state] if trouble else [program]
        return start + _replayed(replay, status)

    out = [program, state]
    if not trouble:
        out += _needed(status, width, offers=offers)
    if frozen is not None:
        out.append((0, [(f"VIEW FROZEN {age(frozen)}", "warn")]))
    out.append((2, [(source_words(status), "")]))
    name = status.session.rsplit("/", 1)[-1].removesuffix(".db")
    out.append((7, [(f"session {visible(name)}", "muted")]))
    if status.running and status.pid:
        out.append((8, [(f"pid {status.pid}", "muted")]))
    out.append((5, [(clock(status.elapsed_seconds), "muted")]))

    total = limited(status.activity.article_limit, status.articles)
    noun = unit_noun(status.source, status.passes)
    if status.articles == 1 and not total:
        noun = singular(noun)
    out.append((1, [(count(status.articles), "strong"), (f"{total} {noun}", "")]))
    if status.in_last_reading:
        out.append((3, [("last reading", "")]))
    elif status.passes > 1 and not status.added:
        out.append((3, [(f"pass {count(status.pass_)} of {count(status.passes)}", "")]))
    if not trouble:
        so_far = progress(status)
        if status.lively and so_far:
            out.append((3, [(so_far, "")]))
    if reading:  # it comes and goes: nothing moves for it, and only this makes room
        out.append((0, [(reading, "accent")]))
    elif not trouble:
        out += _saved(status)
    return out


def _needed(status: Status, width: int, *, offers: bool) -> list[Piece]:
    """What keeps the trainer from training, and the key that may help."""
    needed: list[Piece] = []
    if status.hindered:
        # A file's name is enough here: the view below and the log show the whole path.
        wait = re.sub(r"^/[^:]*/", "", visible(status.activity.wait(time.time())))
        needed.append((1, [(squeezed(wait, width - BESIDE), "warn")]))
        if status.may_retry and offers:
            needed.append((2, [("T tries now", "muted")]))
    if status.state in ("dead", "stopped") and offers:
        needed.append((2, [("R restarts it", "muted")]))
    return needed


def _saved(status: Status) -> list[Piece]:
    """When the session was last saved."""
    since = status.checkpoint_age_seconds
    if since is None:
        return [(4, [("nothing to save yet", "muted")])] if status.running else []
    if status.lively and status.activity.unsaved is False and since > AGED:
        return [(4, [("nothing new to save", "muted")])]
    is_training = status.running and status.state == "running" and not status.waiting_for
    ink = "warn" if is_training and since > LATE else "muted"
    return [(4, [(f"saved {age(since)} ago", ink)])]


def _replayed(replay: Replay, status: Status) -> list[Piece]:
    """Say that the view shows the past, which point of it, and how to get back."""
    sign = "▶" if replay.playing else "‖"
    texts = unit_noun(status.source, status.passes)
    total = f" of {count(replay.points[-1])} {texts}"
    out: list[Piece] = [
        (0, [(f"{sign} REPLAY", "warn")]),
        (1, [(count(replay.articles), "strong"), (total, "")]),
    ]
    if status.passes > 1 and not status.added:
        reading = status.pass_of(replay.articles)
        if reading:
            out.append((2, [(f"pass {count(reading)} of {count(status.passes)}", "")]))
    out.append((2, [(source_words(status), "")]))
    out.append((3, [("space pauses, ←→ step, Esc ends", "muted")]))
    return out


def fitted(pieces: Sequence[Piece], width: int) -> Line:
    """The pieces, two spaces apart, the highest ranks dropped until the rest fit ``width``."""
    rest = list(pieces)
    while sum(2 + line_cells(parts) for _, parts in rest) > width:
        worst = max(rank for rank, _ in rest)
        if worst == 0:
            break
        last_of_them = max(index for index, (rank, _) in enumerate(rest) if rank == worst)
        del rest[last_of_them]
    line: Line = []
    for _, parts in rest:
        gap = "  " if line else " "
        line += [(gap, ""), *parts]
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
        if views == self._views and keys == self._keys:
            return
        self._views = views
        self._keys = keys
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return self.strip([], width)
        brief = sum(len(_text(hint)) for hint in self._views) + KEYS > width
        parts: list[Part] = []
        at = 0
        # Cells kept free for the hints that stay and are still to come.
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
            if hint.active:
                key_ink = "cursor"
                label_ink = "cursor"
            else:
                key_ink = "accent"
                label_ink = "muted" if is_view else ""
            key_cells = 1 + len(hint.key)
            parts.append((Clickable(text[:key_cells], action=hint.action), key_ink))
            parts.append((Clickable(text[key_cells:], action=hint.action), label_ink))
            at += len(text)
        return self.strip(parts, width)


def _text(hint: Hint, *, brief: bool = False) -> str:
    """The hint as it is written; ``brief``: no more than its key, unless it is active."""
    if not brief:
        return f" {hint.key} {hint.label} "
    if hint.active:
        return f" {hint.key} {hint.label}"
    return f" {hint.key}"


# A line to type into.

MOST_CHARACTERS = 1_000
"""Characters. A line is redrawn at each key press, which takes long for a line of a megabyte."""
NOTHING_TURNED = "[^\u202a-\u202e\u2066-\u2069]*"
"""No character that reverses what the terminal shows after it."""


class TextField(Input):
    """An input for names, addresses and files; what is pasted beyond its limits is refused."""

    def __init__(self, value: str = "", **more: Any) -> None:
        super().__init__(
            value, compact=True, max_length=MOST_CHARACTERS, restrict=NOTHING_TURNED, **more
        )


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
