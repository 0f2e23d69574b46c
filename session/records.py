"""What the screen, `status` and the exports see of a session: plain values, read and let go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Literal

import numpy as np
from numpy.typing import NDArray

State = Literal["new", "starting", "running", "paused", "stopping", "stopped", "finished", "dead", "stalled"]
"""`dead`: the trainer's process is gone without having said so. `stalled`: it holds the session but has
given no sign of life for 15 s. `finished`: the source has ended or
--articles is reached. `new`: nothing has run on it yet."""


BoundBy = Literal["network", "parsing", "training"]
Role = Literal["trained", "held_out", "skipped"]

NO_KNOWN_WORD = "no known word"
"""Why an article is skipped that holds no word of the vocabulary."""
UNREAD = "could not be read"
"""The same for one that its reader failed on or was killed by; the log names each."""
HELD_OUT_ALREADY = "already held out"
"""The same for one that is in the evaluation set: training on it would flatter every score."""
NOT_RECORDED = "reason not recorded"
"""The same for what was skipped before sessions kept the reasons."""


def skips_told(skips: Mapping[str, int]) -> str:
    """The reasons for skipped articles, the most frequent first: "disambiguation 12, no known word 3"."""
    return ", ".join(f"{reason} {n:,}" for reason, n in sorted(skips.items(), key=lambda item: -item[1]))


def per_hour(articles: int, seconds: float) -> float:
    """Articles trained an hour of trainer running time: `articles_per_hour` wherever it is told."""
    return articles / seconds * 3600 if seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model at the last commit; the scores are those of its last evaluation."""

    name: str
    kind: str
    topics: int
    topics_in_use: int
    updates: int
    rho: float
    perplexity: float | None
    log_likelihood: float | None
    prequential_log_likelihood: float | None = None
    """Of the newest articles before they were trained, where a model of the session has a half-life."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Rates at one instant (seconds since the epoch); the store keeps the newest 900, one every 2 s."""

    at: float
    crawl_rate: float
    """Articles a second that came in."""
    train_rate: float
    """Articles a second while the models learn, that is what they could take; 0 while they do not."""
    queue: int
    """Articles crawled and waiting to be trained."""


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the session's log."""

    at: float
    level: Literal["info", "warning", "error"]
    message: str


@dataclass(frozen=True, slots=True)
class TrainerActivity:
    """What a trainer is doing: it sends this record with every heartbeat, and everybody reads this record.

    The defaults say nothing; they stand for what a trainer, perhaps an older one, does not tell.
    """

    article_limit: int | None = None
    waiting_for: str | None = None
    waiting_until: float | None = None
    """Seconds since the epoch, where the wait has a known end."""
    compiling: bool = False
    """Whether training waits for kernels to be compiled, as it does once after an installation."""
    bound_by: BoundBy | None = None
    """What has held up the run most of late."""
    crawl_rate: float = 0.0
    """As in :class:`Flow`, like the next two."""
    train_rate: float = 0.0
    queue: int = 0
    requests: int = 0
    requests_last_minute: int = 0
    allowed_per_minute: int | None = None
    latency_seconds: float | None = None
    batch_pages: int | None = None
    retries: int = 0
    throttled: int = 0
    errors: tuple[Event, ...] = ()
    """The source's last few, newest last."""

    def ended(self) -> "TrainerActivity":
        """What is left of it when the trainer is gone: its counts, but nothing that was of the moment."""
        return replace(
            self,
            waiting_for=None,
            waiting_until=None,
            compiling=False,
            bound_by=None,
            crawl_rate=0.0,
            train_rate=0.0,
            requests_last_minute=0,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Status:
    """One look at a session. Field meanings as in `status --json`; the rest is for the screen."""

    session: str
    state: State
    running: bool
    pid: int | None
    source: str
    source_name: str
    articles: int
    tokens: int
    held_out: int
    held_out_target: int
    crawled: int
    pending: int
    skipped: int
    skips: Mapping[str, int]
    """``skipped`` by reason."""
    elapsed_seconds: float
    articles_per_hour: float
    bytes_read: int
    committed_at: float
    """When what was learnt was last saved, seconds since the epoch: another moment, another state of it."""
    checkpoint_age_seconds: float | None
    heartbeat_age_seconds: float | None
    lap: float | None
    activity: TrainerActivity
    """Of the trainer that runs, or what is left of the last one's."""
    models: tuple[ModelStatus, ...]

    def __repr__(self) -> str:
        scores = "".join(f"; {m.name} perplexity {m.perplexity:,.1f}" for m in self.models if m.perplexity)
        account = f"{self.state}, {self.articles:,} articles, {self.articles_per_hour:,.0f} an hour"
        return f"<Status: {account}{scores}>"

    @property
    def waiting_for(self) -> str | None:
        """What the trainer waits for, in plain words."""
        return self.activity.waiting_for

    @property
    def lively(self) -> bool:
        """Whether a trainer gives signs of life, so that its rates are of now."""
        return self.running and self.state != "stalled"


@dataclass(frozen=True, slots=True)
class Curve:
    """One metric of one model: four arrays of equal length, oldest first. Counts are floats, ready to be
    drawn."""

    articles: NDArray[np.float64]
    tokens: NDArray[np.float64]
    seconds: NDArray[np.float64]
    """Trainer running time over all runs."""
    values: NDArray[np.float64]

    def up_to(self, articles: int) -> "Curve":
        """Its part after so many articles and fewer."""
        end = int(np.searchsorted(self.articles, articles, side="right"))
        return Curve(self.articles[:end], self.tokens[:end], self.seconds[:end], self.values[:end])


SNAPSHOT_WORDS = 20
"""Words that a snapshot keeps of each topic."""
COHERENT_WORDS = 10
"""The most probable words of a topic, by which its coherence is measured."""


TopicChange = Literal["born", "died", "split", "merged", "renamed"]


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """Something that has happened to a topic; what each means: :class:`model.changes.Change`."""

    model: str
    articles: int
    event: TopicChange
    topic: int
    other: int | None
    """The topic that was born of a split, or lives on after a merger."""
    name: str
    """Of what was born, has died, or got this name."""

    def told(self) -> str:
        """In words: "#13 splits: #46 slavic, languages, grammar"."""
        match self.event:
            case "born":
                return f"#{self.topic} {self.name} is born"
            case "died":
                return f"#{self.topic} {self.name} died"
            case "split":
                return f"#{self.topic} splits: #{self.other} {self.name}"
            case "merged":
                return f"#{self.topic} {self.name} merged into #{self.other}"
            case "renamed":
                return f"#{self.topic} is now {self.name}"


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic as it stands now, with its way here."""

    topic: int
    name: str
    """The one that somebody gave it, else the words that tell it apart."""
    share: float
    words: tuple[tuple[str, float], ...]
    """Most probable first: (word, probability)."""
    newcomers: frozenset[str]
    """Words now among the first ten that were not when the trend begins."""
    trend: tuple[float, ...]
    """Shares from then to now, oldest first."""
    articles: int
    """After how many it was so: those of the newest snapshot."""
    since: int
    """Where the trend begins: the snapshot nearest to half of `articles`, or the first one."""

    @property
    def label(self) -> str:
        """Its number and its name: "#12 river, lake, dam"."""
        return f"#{self.topic} {self.name}".rstrip()

    @property
    def change(self) -> float:
        """How far the share has moved since the trend began."""
        return self.share - self.trend[0]


@dataclass(frozen=True, slots=True)
class TopWords:
    """The top words of every topic of one model at one point of the stream, by number."""

    model: int
    articles: int
    word_ids: NDArray[np.int32]
    """(K, n)"""
    probabilities: NDArray[np.float32]
    """(K, n)"""
    shares: NDArray[np.float32]
    """(K,)"""

    @property
    def leading(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """As the functions of `model` that compare topics take it."""
        return self.word_ids, self.probabilities


@dataclass(frozen=True, slots=True)
class ShareHistory:
    """How large every topic of a model was at every point that was kept, oldest first."""

    articles: NDArray[np.int64]
    """(S,)"""
    shares: NDArray[np.float32]
    """(S, K)"""
    own: NDArray[np.float32]
    """(S, K) the part of each share that is the topic's own: its share, times how far its words are no other
    topic's (:func:`model.naming.distinctness`). It grows when a topic is born, even if shares hardly
    move."""

    def up_to(self, articles: int) -> "ShareHistory":
        """Its part after so many articles and fewer."""
        end = int(np.searchsorted(self.articles, articles, side="right"))
        return ShareHistory(self.articles[:end], self.shares[:end], self.own[:end])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All topics of one model after so many articles. Row k is topic k."""

    model: str
    articles: int
    words: tuple[tuple[str, ...], ...]
    """K rows of (up to 20) top words."""
    probabilities: NDArray[np.float32]
    """(K, 20), beside ``words``."""
    shares: NDArray[np.float32]
    """(K,)"""


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """One article of the stream and what one model made of it."""

    seq: int
    page_id: int
    title: str
    revision_id: int
    words: int
    role: Role
    topics: tuple[tuple[str, int, float], ...] = field(default=())
    """(model, topic, proportion) with each model's largest topic."""
    id: str | None = None
    """What its own collection calls it, "" where it has no such name; None: the source has none at all."""


@dataclass(frozen=True, slots=True)
class ArticleColumns:
    """Articles of the stream by column, for callers that read millions.

    Each field but ``models`` has one value for every article.
    """

    models: tuple[str, ...]
    seqs: Sequence[int]
    page_ids: Sequence[int]
    titles: Sequence[str]
    revision_ids: Sequence[int]
    words: Sequence[int]
    roles: Sequence[Role]
    topics: Sequence[Sequence[int]]
    """Each model's largest topic, and none where the article was not trained on."""
    shares: Sequence[Sequence[float]]
    """Beside ``topics``: their proportions."""
    ids: Sequence[str | None]

    def rows(self) -> list[ArticleRow]:
        """The articles one by one."""
        names = repeat(self.models)
        largest = map(tuple, map(zip, names, self.topics, self.shares))
        columns = self.seqs, self.page_ids, self.titles, self.revision_ids, self.words, self.roles, largest
        return list(map(ArticleRow, *columns, self.ids))


@dataclass(frozen=True, slots=True)
class PastRun:
    """One trainer's run, for restart marks on the chart."""

    started_at: float
    ended_at: float | None
    first_article: int
    """`articles` when it began."""
    reason: str | None
    """Why it ended, in words."""
