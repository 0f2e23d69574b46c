"""Articles, one per line: title, length, and main topic by the model in use."""

from rich.cells import cell_len

from wikitopics.session.records import ArticleRow
from wikitopics.tui.inks import Part, linked
from wikitopics.tui.look import Look
from wikitopics.tui.rowlist import RowList
from wikitopics.tui.widgets.reading import about
from wikitopics.tui.words import count, cut, visible


class ArticleList(RowList[ArticleRow]):
    """Titles come from strangers, so they are printed literally."""

    stays_on_top = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = " no articles"
        self._look: Look | None = None
        self._model: str | None = None
        self.of: object = None
        """The session of the articles, and what they have in common."""

    def show_articles(
        self,
        rows: list[ArticleRow] | tuple[ArticleRow, ...],
        look: Look,
        model: str | None,
        sought: object = None,
    ) -> None:
        """Draw these, as ``model`` sees them; ``sought`` is what they have in common."""
        of = (look.status.session, sought)
        if of != self.of:
            self.release()
        self.of, self._look, self._model = of, look, model
        self.show(rows, anew=True)

    def key(self, row: ArticleRow) -> object:
        return row.seq

    def header(self, width: int) -> list[Part]:
        return [(f"{'number':>9} {'words':>7}  {'title':<{self._title(width)}}most about", "header")]

    def parts(self, row: ArticleRow, width: int) -> list[Part]:
        room = self._title(width)
        title = cut(visible(row.title), room - 2)
        address = None if self._look is None else self._look.address(row)
        out: list[Part] = [
            (f"{count(row.seq):>9} ", "faint"),
            (f"{count(row.words):>7}  ", "muted"),
            (linked(title, address), ""),
            (" " * (room - cell_len(title)), ""),
        ]
        return out if self._look is None else [*out, *about(row, self._look, self._model)]

    @staticmethod
    def _title(width: int) -> int:
        return max(min((width - 20) // 2, 60), 12)
