"""The whole session in a few numbers, for a terminal too small for anything else."""

from textual.strip import Strip
from textual.widget import Widget

from tui.inks import INKS, Part, strip
from tui.look import Choice, Look
from tui.widgets.flow import per_second, waiting
from tui.widgets.topiclist import by_share
from tui.words import count, measured, share


class Numbers(Widget):
    """One number a line, the most important first."""

    COMPONENT_CLASSES = set(INKS)  # noqa: RUF012 - Textual's own convention

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[list[Part]] = []

    def show(self, look: Look, choice: Choice) -> None:
        s = look.status
        lines: list[list[Part]] = []
        for model in s.models:
            value = "not measured yet" if model.perplexity is None else measured(model.perplexity)
            lines.append([(f" {model.name} ", "muted"), ("perplexity ", "muted"), (value, "strong")])
        lines.append(
            [
                (" articles ", "muted"),
                (count(s.articles), "strong"),
                (" crawled ", "muted"),
                (count(s.crawled), ""),
            ]
        )
        lines.append([(" held out ", "muted"), (f"{count(s.held_out)} of {count(s.held_out_target)}", "")])
        lines.append(
            [
                (" crawl ", "muted"),
                (per_second(s.crawl_rate), ""),
                (" train ", "muted"),
                (per_second(s.train_rate), ""),
            ]
        )
        lines.append([(" ", ""), waiting(s, look.at)])
        for row in by_share(look.topics.get(choice.model_of(look) or "", ())):
            words = " ".join(word for word, _ in row.words[:5])
            lines.append([(f"{row.topic:>4} {share(row.share):>5} ", "muted"), (words, "")])
        self._lines = lines
        self.refresh()

    def render_line(self, y: int) -> Strip:
        return strip(self, self._lines[y] if y < len(self._lines) else [], self.size.width)
