"""What a report tells, as plain records: read from a session once, then drawn and written."""

from collections.abc import Sequence
from dataclasses import dataclass

from crawler import Licence
from model import Metric
from session.records import Curve, PastRun, Status, TopicEvent


@dataclass(frozen=True, slots=True)
class Word:
    """One of a topic's leading words."""

    text: str
    probability: float
    own: float
    """The share of its uses, in all topics that lead with it, that is this topic's."""


@dataclass(frozen=True, slots=True)
class Then:
    """A topic as it was after so many articles."""

    articles: int
    share: float
    words: tuple[tuple[str, bool], ...]
    """Most probable first, each with whether it is new since the record before."""


@dataclass(frozen=True, slots=True)
class ToldArticle:
    """An article whose largest topic it is."""

    title: str
    url: str | None
    """http or https, of the revision that was read; None where that is not known."""
    proportion: float


@dataclass(frozen=True, slots=True)
class ToldTopic:
    """One topic in use."""

    anchor: str
    """Where on the page it is."""
    number: int
    name: str
    share: float
    moved: float
    """How far the share has moved over the last few snapshots."""
    coherence: float | None
    words: tuple[Word, ...]
    """Most probable first."""
    place: tuple[float, float]
    """On the map: the further two topics are apart there, the less they have in common."""
    shares: tuple[tuple[int, float, float], ...]
    """(articles, share, what of it is the topic's own) at the snapshots, oldest first."""
    looks: tuple[Then, ...]
    """Oldest first; the last is as it is now."""
    articles: tuple[ToldArticle, ...]
    """Those that are most about it."""
    events: tuple[TopicEvent, ...]
    """What has happened to it, oldest first."""


@dataclass(frozen=True, slots=True)
class Group:
    """Topics that are alike."""

    name: str
    share: float
    topics: tuple[ToldTopic, ...]
    """In the order of the tree."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two branches of the tree that come together."""

    heights: tuple[float, float, float]
    """Of the one branch, of where they meet, and of the other."""
    rows: tuple[float, float]
    """Of the two branches, counted from 0 in the tree's order."""


@dataclass(frozen=True, slots=True)
class ToldModel:
    """One model and its topics."""

    anchor: str
    name: str
    spec: str
    """As `--model` would make it."""
    label: str
    """For people: what it is, where its kind is installed."""
    place: int
    """Among the session's models: its colour."""
    updates: int
    n_topics: int
    """In use or not."""
    as_of: int
    """Articles at the snapshot from which its topics are."""
    topics: tuple[ToldTopic, ...]
    """Those in use, largest first."""
    repeats: str
    """How many of them nearly repeat another, in a line; "" where none does."""
    groups: tuple[Group, ...]
    """The same, by what is alike."""
    tree: tuple[Bracket, ...]
    """The whole tree over the topics of the groups, in their order."""
    events: tuple[TopicEvent, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class ToldMetric:
    """One measure, with the curve of every model that has it."""

    metric: Metric
    title: str
    curves: tuple[tuple[int, Curve], ...]
    """The model's place, and its curve: a point at least, each of a finite value behind the first article."""


@dataclass(frozen=True, slots=True)
class Told:
    """Everything that is on the page."""

    session: str
    """Its name, without the folder."""
    made_at: float
    """Seconds since the epoch, like all times here."""
    status: Status
    source_name: str
    """As the screen shows it."""
    source_label: str
    """What kind of source it is."""
    licence: Licence | None
    """Whose the titles and words are; None where that is the user's own affair."""
    n_words: int
    models: tuple[ToldModel, ...]
    metrics: tuple[ToldMetric, ...]
    runs: tuple[PastRun, ...]
    settings: Sequence[tuple[str, str]]
    """(what, value); nothing of the machine, no contact, no path."""
    versions: Sequence[tuple[str, str]]
