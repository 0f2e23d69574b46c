"""The whole session in a few numbers, for a terminal too small for anything else."""

import math

from wikitopics.tui.inks import Lines, Part
from wikitopics.tui.listing import ordered
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.widgets.flow import incoming, rate, waiting
from wikitopics.tui.words import count, measured, share


class Numbers(Lines):
    """One number per line, the most important first."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._told: list[list[Part]] = []

    def show(self, look: Look, choice: Choice) -> None:
        lines = _facts(look) if look.as_of is None else [[(" as it was then", "muted")]]
        listed = choice.model_of(look)
        if after := look.topics_after(listed):
            lines.append([(f" topics {after}", "muted")])
        for row in ordered(look.topics.get(listed or "", ()), choice.order, choice.pinned_of(listed)):
            lines.append([(f"{row.topic:>4} {share(row.share):>5} ", "muted"), (row.name, "")])
        self._told = lines
        self.redraw()

    def lines(self, width: int, height: int) -> list[list[Part]]:
        return self._told


def _facts(look: Look) -> list[list[Part]]:
    """The progress of training."""
    s = look.status
    lines: list[list[Part]] = []
    for model in s.models:
        value = "not measured yet" if model.perplexity is None else measured(model.perplexity)
        lines.append([(f" {model.name} ", "muted"), ("perplexity ", "muted"), (value, "strong")])
        if model.prequential_log_likelihood is not None:
            coming = measured(math.exp(-model.prequential_log_likelihood))
            lines.append([(" on new articles, before training ", "muted"), (coming, "strong")])
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
            (f" {incoming(s)} ", "muted"),
            rate(s, s.activity.crawl_rate),
            (" train ", "muted"),
            rate(s, s.activity.train_rate, "idle"),
        ]
    )
    lines.append([(" ", ""), waiting(s, look.at)])
    return lines
