"""The top line: whether the trainer is alive, what it reads, its progress, and when it last saved.

It never looks alive by itself: what it says comes from the trainer's heartbeat.
"""

import time
from pathlib import Path

from rich.cells import cell_len

from wikitopics.session.records import Status
from wikitopics.session.sources import counted, described
from wikitopics.tui.inks import Line
from wikitopics.tui.look import Replay
from wikitopics.tui.words import age, clock, count, limited, squeezed, visible

CAUSE = 48
"""The most cells for what hinders the trainer; the count of articles fits beside it in 80 columns."""


def condition(status: Status) -> tuple[str, str, str]:
    """(sign, words, ink) for the state of the trainer."""
    if status.hindered:
        return "◐", "WAITING", "warn"
    silent = age(status.heartbeat_age_seconds or 0.0)
    return {
        "stalled": ("!", f"{'SUSPENDED' if status.suspended else 'NO SIGN OF LIFE'} for {silent}", "bad"),
        "new": ("○", "NEW", "muted"),
        "starting": ("◌", "STARTING", "warn"),
        "running": ("●", "LIVE", "good"),
        "paused": ("‖", "PAUSED", "warn"),
        "stopping": ("◍", "STOPPING", "warn"),
        "stopped": ("■", "STOPPED", "muted"),
        "finished": ("✓", "FINISHED", "good"),
        "dead": ("✗", "TRAINER DIED" + (f" ({status.death})" if status.death else ""), "bad"),
    }[status.state]


def source_words(status: Status) -> str:
    """Where the articles come from; the embedded sample is never passed off as Wikipedia."""
    return described(status.source).shown(visible(status.source_name))


def window_title(status: Status | None, session: Path, trouble: str = "") -> str:
    """The title of the terminal's window or tab: "live 1,187 · night · wikitopics", the state first, and what
    hinders the trainer."""
    if trouble or status is None:
        state = "cannot read" if trouble else "opening"
    elif status.hindered:
        state = f"waiting: {visible(status.waiting_for or '')}"
    else:
        measured = [model.perplexity for model in status.models if model.perplexity is not None]
        state = condition(status)[1].lower() + "".join(f" {value:,.0f}" for value in measured[:1])
    return f"{state} · {session.stem} · wikitopics"


Pieces = list[tuple[int, Line]]
"""(rank, parts): the higher the rank, the earlier it is dropped if there is no room."""


def pieces(
    s: Status | None, trouble: str, frozen: float | None, replay: Replay | None, ascii_only: bool
) -> Pieces:
    """The line's parts. ``trouble``: why the session cannot be read now; ``frozen``: seconds since the view
    froze."""
    if s is None:
        return [(0, [("wikitopics", "strong")]), (0, [(trouble or "opening …", "muted")])]
    sign, words, ink = condition(s)
    if trouble:  # then the trainer's state is not known
        sign, words, ink = "!", f"cannot read the session: {visible(trouble)}", "bad"
    elif ascii_only and not sign.isascii():
        sign = "*"
    out: Pieces = [(6, [("wikitopics", "strong")]), (0, [(f"{sign} {words}", ink)])]
    if replay is not None:
        shown = out if trouble else out[:1]  # the trainer's present state has no place here
        return [*shown, *_replayed(replay, s, ascii_only=ascii_only)]
    if s.hindered and not trouble:
        out.append((1, [(squeezed(visible(s.activity.wait(time.time())), CAUSE), "warn")]))
    if s.state in ("dead", "stopped") and not trouble:
        out.append((3, [("R restarts it", "muted")]))
    if frozen is not None:
        out.append((0, [(f"VIEW FROZEN {age(frozen)}", "warn")]))
    out.append((2, [(source_words(s), "")]))
    name = s.session.rsplit("/", 1)[-1].removesuffix(".db")
    out.append((7, [(f"session {visible(name)}", "muted")]))
    if s.running and s.pid:
        out.append((8, [(f"pid {s.pid}", "muted")]))
    out.append((5, [(clock(s.elapsed_seconds), "muted")]))
    total = limited(s.activity.article_limit, s.articles)
    articles = counted(s.source, s.passes)
    if s.articles == 1 and not total:
        articles = articles[:-1]
    out.append((1, [(count(s.articles), "strong"), (f"{total} {articles}", "")]))
    if s.passes > 1:
        out.append((3, [(f"pass {count(s.pass_)} of {count(s.passes)}", "")]))
    if trouble:  # when it was last saved is not known
        return out
    if s.checkpoint_age_seconds is not None:
        late = s.running and s.checkpoint_age_seconds > 120 and s.state == "running" and not s.waiting_for
        saved = f"saved {age(s.checkpoint_age_seconds)} ago"
        out.append((4, [(saved, "warn" if late else "muted")]))
    elif s.running:
        out.append((4, [("nothing to save yet", "muted")]))
    return out


def _replayed(replay: Replay, status: Status, *, ascii_only: bool) -> Pieces:
    """Say that the view shows the past, which point of it, and how to get back."""
    sign = (">" if ascii_only else "▶") if replay.playing else ("=" if ascii_only else "‖")
    reading = -(-replay.articles // status.documents) if status.passes > 1 and status.documents else 0
    texts = counted(status.source, status.passes)
    return [
        (0, [(f"{sign} REPLAY", "warn")]),
        (1, [(count(replay.articles), "strong"), (f" of {count(replay.points[-1])} {texts}", "")]),
        *([(2, [(f"pass {count(reading)} of {count(status.passes)}", "")])] if reading else []),
        (2, [(source_words(status), "")]),
        (3, [("space pauses, ←→ step, Esc ends", "muted")]),
    ]


def fitted(pieces: Pieces, width: int) -> Line:
    """The pieces, two spaces apart, the highest ranks dropped until the rest fit ``width``."""
    kept = list(pieces)
    while True:
        length = 2 + sum(cell_len(text) for _, parts in kept for text, _ in parts) + 2 * (len(kept) - 1)
        worst = max((rank for rank, _ in kept), default=0)
        if length <= width or worst == 0:
            break
        kept.remove(next(piece for piece in reversed(kept) if piece[0] == worst))
    line: Line = [(" ", "")]
    for i, (_, parts) in enumerate(kept):
        line += [("  ", "")] if i else []
        line += parts
    return line
