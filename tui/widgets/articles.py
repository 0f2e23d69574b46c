"""Articles, one per line, with what a model made of each: a list, and the newest of those being read."""

from collections.abc import Sequence

from rich.cells import cell_len

from wikitopics.session.records import NO_KNOWN_WORD, ArticleRow
from wikitopics.tui.inks import Line, linked
from wikitopics.tui.look import Look
from wikitopics.tui.widgets.rowlist import RowList
from wikitopics.tui.words import count, cut, plural, visible

COMING = " the first articles are on their way"
ROOMY = 52
"""The number of cells from which a title and a topic share a line."""


class ArticleList(RowList[ArticleRow]):
    """Titles come from strangers, so they are printed literally."""

    stays_on_top = True
    empty = " no articles"
    _look: Look | None = None
    _model: str | None = None
    of: object = None
    """The session of the articles, and what they have in common."""

    def show_articles(
        self, rows: Sequence[ArticleRow], look: Look, model: str | None, sought: object = None
    ) -> None:
        """Draw these, as ``model`` sees them; ``sought`` is what they have in common."""
        of = (look.status.session, sought)
        if of != self.of:
            self.release()
        self.of, self._look, self._model = of, look, model
        self.show(rows, anew=True)

    def key(self, row: ArticleRow) -> object:
        return row.seq

    def header(self, width: int) -> Line:
        return [(f"{'number':>9} {'words':>7}  {'title':<{self._title(width)}}most about", "header")]

    def parts(self, row: ArticleRow, width: int) -> Line:
        assert self._look is not None
        room = self._title(width)
        title = cut(visible(row.title), room - 2)
        return [
            (f"{count(row.seq):>9} ", "faint"),
            (f"{count(row.words):>7}  ", "muted"),
            (linked(title, self._look.address(row)), ""),
            (" " * (room - cell_len(title)), ""),
            *about(row, self._look, self._model),
        ]

    @staticmethod
    def _title(width: int) -> int:
        return max(min((width - 20) // 2, 60), 12)


def now_reading(look: Look, model: str | None, width: int, height: int) -> list[Line]:
    """The newest articles with their main topics, one per line; two lines each if there is no room."""
    if look.as_of is not None:
        return [[(" a replay shows topics, not articles", "muted")]]
    if not look.recent:
        return [[(COMING if look.status.lively else " no article has been read", "muted")]]
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


def weight(proportion: float) -> str:
    """A topic's share of an article: ".41"."""
    return f"{proportion:.2f}".removeprefix("0")


def about(article: ArticleRow, look: Look, model: str | None) -> Line:
    """The outcome for an article: ".41 #12 navy, war, fleet", "held out", "skipped: …"."""
    if article.role == "skipped":
        return [(f"skipped: {NO_KNOWN_WORD}", "faint")]
    if article.role == "held_out":
        return [(f"held out, never trained on; {plural(article.words, 'word')}", "faint")]
    for of, topic, proportion in article.topics:
        if of == model:
            number, _, called = look.topic_label(of, topic).partition(" ")
            return [(f"{weight(proportion)} ", "accent"), (f"{number} ", "faint"), (called, "muted")]
    return [(plural(article.words, "word"), "faint")]
