"""Now reading: the newest articles and their main topics."""

from rich.cells import cell_len

from wikitopics.session.records import NO_KNOWN_WORD, ArticleRow
from wikitopics.tui.inks import Lines, Part, linked, name
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.words import cut, plural, visible

ROOMY = 52
"""The number of cells from which a title and a topic share a line."""


class NowReading(Lines, can_focus=True):
    """One line per article, with its title and main topic; two lines if there is no room."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look: Look | None = None
        self._model: str | None = None

    def show(self, look: Look, choice: Choice) -> None:
        self._look, self._model = look, choice.model_of(look)
        name(self, "Now reading" if look.status.lively else "Last read")
        self.redraw()

    @property
    def newest(self) -> ArticleRow | None:
        """The article on top."""
        return next(iter(self._look.recent), None) if self._look is not None else None

    def lines(self, width: int, height: int) -> list[list[Part]]:
        look = self._look
        if look is not None and look.as_of is not None:
            return [[(" a replay shows topics, not articles", "muted")]]
        if look is None or not look.recent:
            coming = look is None or look.status.lively
            words = "the first articles are on their way" if coming else "no article has been read"
            return [[(f" {words}", "muted")]]
        out: list[list[Part]] = []
        for article in look.recent[:height]:
            ink, told = ("" if out else "strong"), about(article, look, self._model)
            room = width // 2 - 2 if width >= ROOMY else width - 2
            shown = cut(visible(article.title), room)
            title: list[Part] = [(" ", ""), (linked(shown, look.address(article)), ink)]
            if width >= ROOMY:
                out.append([*title, (" " * (room - cell_len(shown) + 1), ""), *told])
            else:
                out += [title, [("   ", ""), *told]]
        return out[:height]


def weight(proportion: float) -> str:
    """A topic's share of an article: ".41"."""
    return f"{proportion:.2f}".removeprefix("0")


def about(article: ArticleRow, look: Look, model: str | None) -> list[Part]:
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
