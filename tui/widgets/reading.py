"""Now reading: the newest articles and what the model made of them."""

from textual.strip import Strip
from textual.widget import Widget

from session.reading import ArticleRow
from tui.inks import INKS, Part, strip
from tui.look import Choice, Look
from tui.words import cut, plural, visible


class NowReading(Widget, can_focus=True):
    """Two lines an article: its title, and the topic it is most about."""

    COMPONENT_CLASSES = set(INKS)  # noqa: RUF012 - Textual's own convention

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look: Look | None = None
        self._model: str | None = None

    def show(self, look: Look, choice: Choice) -> None:
        self._look, self._model = look, choice.model_of(look)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        look = self._look
        if look is None or not look.recent:
            text = " the first articles are on their way" if y == 0 and look is not None else ""
            return strip(self, [(text, "muted")], width)
        if y // 2 >= len(look.recent):
            return strip(self, [], width)
        article = look.recent[y // 2]
        if y % 2 == 0:
            return strip(
                self, [(" " + cut(visible(article.title), width - 2), "strong" if y == 0 else "")], width
            )
        return strip(self, [("   ", ""), *about(article, look, self._model)], width)


def about(article: ArticleRow, look: Look, model: str | None) -> list[Part]:
    """What an article was taken for: ".41 navy war fleet", "held out", "skipped"."""
    if article.role == "skipped":
        return [("skipped", "faint")]
    if article.role == "held_out":
        return [(f"held out, never trained on; {plural(article.words, 'word')}", "faint")]
    for name, topic, proportion in article.topics:
        if name == model:
            words = look.topic_words(name, topic)
            weight = f"{proportion:.2f}".removeprefix("0")
            return [(f"{weight} ", "accent"), (words or f"topic {topic}", "muted"), (f"  #{topic}", "faint")]
    return [(plural(article.words, "word"), "faint")]
