"""What a session gives in Python: topics, articles and measurements as plain values."""

from dataclasses import dataclass

from wikitopics.session.extras import REPORT
from wikitopics.session.records import in_line


@dataclass(frozen=True, slots=True, repr=False)
class Topic:
    """A topic as of the newest snapshot."""

    number: int
    """Topics are numbered from 0, the same in every command and export."""
    name: str
    """The name given to it, otherwise the words that tell it apart."""
    share: float
    """Its share of the words of the corpus."""
    words: tuple[str, ...]
    """Its most probable words (20 are kept), most probable first."""
    probabilities: tuple[float, ...]
    """The probability in this topic of each of `words`."""
    npmi: float | None
    """How strongly its ten leading words occur together in held-out articles, -1 to 1; None if there are
    none."""
    in_use: bool
    """Whether it has more than a thousandth of the corpus."""
    parent: int | None
    """The group of topics that it belongs to, numbered as in `wikitopics topics --tree`; None for a lone
    topic."""
    own: tuple[float, ...]
    """For each of `words`: this topic's share of the uses by all topics that the word leads."""

    def __repr__(self) -> str:
        return f"<Topic {self.number} {self.name!r}, {self.share:.1%}: {in_line(self.words[:10])}>"

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import notebook

        told = notebook.noted(f"#{self.number} {self.name}, {self.share:.1%} of all words")
        words = list(zip(self.words, self.probabilities, self.own, strict=True))
        return notebook.framed(told, notebook.described(words))


@dataclass(frozen=True, slots=True, repr=False)
class TopicThen:
    """A topic as it was at one snapshot, after `articles` articles."""

    articles: int
    share: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    def __repr__(self) -> str:
        return f"<after {self.articles:,} articles, {self.share:.1%}: {in_line(self.words[:10])}>"


@dataclass(frozen=True, slots=True)
class Article:
    """An article of the stream, with its largest topic in one model."""

    page_id: int
    title: str
    revision_id: int
    words: int
    """Its words that are in the vocabulary, repetitions included."""
    role: str
    """trained, held_out or skipped."""
    topic: int | None
    """None if it has none: it was skipped, or is held out (see `StoredSession.proportions`)."""
    proportion: float | None
    """The proportion of `topic` in the article."""
    id: str | None = None
    """Its id in its own collection, "" if it has none; None if the source has no ids at all."""
    url: str | None = None
    """The address of the text that was read; None if it is not known."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value of one metric, as `wikitopics export metrics` has it."""

    model: str
    articles: int
    """Articles trained by then; likewise `tokens`, their words, and `seconds`, the trainer's time."""
    tokens: int
    seconds: float
    metric: str
    value: float
