"""Articles, one per line, with what a model made of each: a list, and the newest of those being read."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from wikitopics.session.records import NO_KNOWN_WORD, ArticleRow
from wikitopics.tui.inks import Line, linked
from wikitopics.tui.look import SessionView
from wikitopics.tui.text import count, cut, padded, plural, visible
from wikitopics.tui.widgets.rowlist import RowList

ROOMY = 52
"""The number of cells from which a title and a topic share a line."""
NUMBERS = 19
"""Cells of an article's numbers."""
ROOM_FOR = (90, 150)
"""Widths (cells) from which a line shows two topics, and three."""
SEVERAL = 1 + len(ROOM_FOR)
"""The most topics of an article in a line."""
SHARE, LEAST = 7, 16
"""Cells of the share alone, and the least cells of a topic."""

Leading = Mapping[int, Sequence[tuple[int, float]]]
"""The largest (topic, proportion) of articles, by their number."""


class ArticleList(RowList[ArticleRow]):
    """Titles come from strangers, so they are printed literally."""

    stays_on_top = True
    empty = " none"
    _look: SessionView | None = None
    _model: str | None = None
    _leading: Leading = {}  # noqa: RUF012 - never changed
    _topic: int | None = None
    of: object = None
    """The session of the articles, and what they have in common."""

    def show_articles(
        self,
        rows: Sequence[ArticleRow],
        leading: Leading,
        look: SessionView,
        model: str | None,
        *,
        sought: object = None,
        topic: int | None = None,
    ) -> None:
        """Draw these, as ``model`` sees them; ``sought`` is what they have in common.

        ``leading``: what is known of all their topics. ``topic``: the one that all are most about, so that
        no line needs to name it.
        """
        of = (look.status.session, sought, topic)
        if of != self.of:
            self.release()
        self.of, self._look, self._model, self._leading, self._topic = of, look, model, leading, topic
        self.show(rows, anew=True)

    def key(self, row: ArticleRow) -> object:
        return row.seq

    def header(self, width: int) -> Line:
        title, topic, many = self._columns(width)
        if self._topic is not None:
            topics = f"{'share':<{SHARE}}{'also about' if many else ''}"
        else:
            topics = f"{'most about':<{topic}}{'also about' if many > 1 else ''}"
        return [(f"{'number':>9} {'words':>7}  {'title':<{title}}{topics}", "header")]

    def parts(self, row: ArticleRow, width: int) -> Line:
        assert self._look is not None
        room = self._columns(width)[0]
        title = cut(visible(row.title), room - 2)
        return [
            (f"{count(row.seq):>9} ", "faint"),
            (f"{count(row.words):>7}  ", "muted"),
            (linked(title, self._look.address(row)), ""),
            (" " * (room - cell_len(title)), ""),
            *self._about(row, self._look, width),
        ]

    def _about(self, row: ArticleRow, look: SessionView, width: int) -> Line:
        """What it is about: as many topics as there is room for, the largest first."""
        told, model, (_, cells, many) = about(row, look, self._model), self._model, self._columns(width)
        largest = next((topic for name, topic, _ in row.topics if name == model), None)
        if model is None or largest is None:
            return told
        others = [one for one in self._leading.get(row.seq, ()) if one[0] != largest]
        if self._topic is not None:
            told = [(told[0][0].ljust(SHARE), "accent")]
        else:
            told, many = _fitted(told, cells), many - 1
        for topic, part in others[:many]:
            told += _fitted(topic_told(look, model, topic, part), cells)
        return told

    def _columns(self, width: int) -> tuple[int, int, int]:
        """Cells of the title and of each topic, and the number of topics; in a list of one topic, of the
        others."""
        room = max(width - NUMBERS, 0)
        many = 1 + sum(room >= least for least in ROOM_FOR)
        title = max(min(room // 2 if many == 1 else room * 3 // 8, 60), 12)
        left = room - title - (SHARE if self._topic is not None else 0)
        return title, max(left // many, LEAST), many if left >= LEAST or self._topic is None else 0


def now_reading(look: SessionView, model: str | None, width: int, height: int) -> list[Line]:
    """The newest articles with their main topics, one per line; two lines each if there is no room."""
    if look.as_of is not None:
        return [[(f" a replay shows topics, not {look.noun}", "muted")]]
    if not look.recent:
        return [[(coming(look) if look.status.lively else f" no {look.noun[:-1]} has been read", "muted")]]
    out: list[Line] = []
    for article in look.recent[:height]:
        ink, told = ("" if out else "strong"), about(article, look, model)
        room = width // 2 - 2 if width >= ROOMY else width - 2
        shown = cut(visible(article.title), room)
        title: Line = [(" ", ""), (linked(shown, look.address(article)), ink)]
        if width >= ROOMY:
            out.append([*title, (" " * (room - cell_len(shown) + 1), ""), *told])
        else:
            out += [title, [("   ", ""), *told]]
    return out[:height]


def coming(look: SessionView) -> str:
    """What is shown before there is anything to list."""
    return f" the first {look.noun} are on their way"


def weight(proportion: float) -> str:
    """A topic's share of an article in three cells: ".41", "1.0"."""
    return f"{proportion:.2f}".removeprefix("0")[:3]


def about(article: ArticleRow, look: SessionView, model: str | None) -> Line:
    """The outcome for an article: ".41 #12 navy, war, fleet", "held out", "skipped: …"."""
    if article.role == "skipped":
        return [(f"skipped: {NO_KNOWN_WORD}", "faint")]
    if article.role == "held_out":
        return [(f"held out, never trained on; {plural(article.words, 'word')}", "faint")]
    for of, topic, proportion in article.topics:
        if of == model:
            return topic_told(look, of, topic, proportion)
    return [(plural(article.words, "word"), "faint")]


def topic_told(look: SessionView, model: str, topic: int, proportion: float) -> Line:
    """A topic's part of an article: ".41 #12 navy, war, fleet"."""
    number, _, called = look.topic_label(model, topic).partition(" ")
    return [(f"{weight(proportion)} ", "accent"), (f"{number} ", "faint"), (called, "muted")]


def _fitted(told: Line, cells: int) -> Line:
    """A topic in its column."""
    *head, (called, ink) = told
    return [*head, (padded(visible(called), cells - 1 - sum(len(text) for text, _ in head)) + " ", ink)]
