"""The contents of a report, as plain records: read from a session once, then drawn and written."""

from collections.abc import Sequence
from dataclasses import dataclass

from wikitopics.crawler import Licence
from wikitopics.model import Metric
from wikitopics.session.records import Curve, PastRun, Status, TopicEvent


@dataclass(frozen=True, slots=True)
class Word:
    """One of a topic's leading words."""

    text: str
    probability: float
    own: float
    """This topic's share of the word's uses in all topics that lead with it."""


@dataclass(frozen=True, slots=True)
class Then:
    """A topic as it was after ``articles`` articles."""

    articles: int
    share: float
    words: tuple[tuple[str, bool], ...]
    """The words, most probable first, each with whether it is new since the previous record."""


@dataclass(frozen=True, slots=True)
class ToldArticle:
    """An article whose largest topic it is."""

    title: str
    url: str | None
    """The http or https address of the revision that was read; None if it is not known."""
    proportion: float


@dataclass(frozen=True, slots=True)
class ToldTopic:
    """One topic in use."""

    anchor: str
    """Its anchor on the page."""
    number: int
    name: str
    share: float
    moved: float
    """How far the share has moved over the last few snapshots."""
    coherence: float | None
    words: tuple[Word, ...]
    """Its words, most probable first."""
    place: tuple[float, float]
    """Its place on the map: the farther apart two topics are there, the less they have in common."""
    shares: tuple[tuple[int, float, float], ...]
    """(articles, share, the topic's own part of it) at the snapshots, oldest first."""
    looks: tuple[Then, ...]
    """Its records over time, oldest first; the last one is the present."""
    articles: tuple[ToldArticle, ...]
    """The articles most about it."""
    events: tuple[TopicEvent, ...]
    """Its events, oldest first."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of similar topics."""

    name: str
    share: float
    topics: tuple[ToldTopic, ...]
    """Its topics, in the order of the tree."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two branches of the tree where they join."""

    heights: tuple[float, float, float]
    """The heights of one branch, of the join, and of the other branch."""
    rows: tuple[float, float]
    """The rows of the two branches, counted from 0 in the tree's order."""


@dataclass(frozen=True, slots=True)
class ToldModel:
    """One model and its topics."""

    anchor: str
    name: str
    spec: str
    """The model as written for `--model`."""
    label: str
    """Its name for people, if its kind is installed."""
    place: int
    """Its place among the session's models, which decides its colour."""
    updates: int
    n_topics: int
    """The number of its topics, in use or not."""
    as_of: int
    """The number of articles at the snapshot from which its topics are taken."""
    topics: tuple[ToldTopic, ...]
    """The topics in use, largest first."""
    repeats: str
    """A line on how many of them nearly repeat another; "" if none does."""
    groups: tuple[Group, ...]
    """The topics grouped by similarity."""
    tree: tuple[Bracket, ...]
    """The whole tree over the topics of the groups, in their order."""
    events: tuple[TopicEvent, ...]
    """Its events, oldest first."""


@dataclass(frozen=True, slots=True)
class ToldMetric:
    """One metric, with the curve of every model that has it."""

    metric: Metric
    title: str
    curves: tuple[tuple[int, Curve], ...]
    """The model's place and its curve: at least one point, each with a finite value after the first
    article."""


@dataclass(frozen=True, slots=True)
class Told:
    """Everything on the page."""

    session: str
    """The session's name, without the folder."""
    made_at: float
    """Seconds since the epoch, like all times here."""
    status: Status
    source_name: str
    """The source's name, as the screen shows it."""
    source_label: str
    """The label of the kind of source."""
    licence: Licence | None
    """The licence of titles and words; None if the documents are the user's own."""
    n_words: int
    models: tuple[ToldModel, ...]
    metrics: tuple[ToldMetric, ...]
    runs: tuple[PastRun, ...]
    settings: Sequence[tuple[str, str]]
    """(setting, value); nothing about the machine, no contact, no path."""
    versions: Sequence[tuple[str, str]]
