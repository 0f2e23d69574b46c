"""Records of a session for the screen, `status` and the exports: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.sources import noun
from wikitopics.session.wording import LARGEST_IN_FULL, age, called, left_in_words

# The valid values. The session file is checked against these types, and anything else in it is
# damage.

Count = Annotated[int, Meta(ge=0, le=10**15)]
"""Sums of these fit 64 bits and floats."""
PositiveCount = Annotated[int, Meta(ge=1, le=10**15)]
Rate = Annotated[float, Meta(ge=0, le=1e15)]
"""Any other measure, such as a rate, a span of time or a share."""
Moment = Annotated[float, Meta(ge=0, le=4e10)]
"""Seconds since the epoch, up to the 33rd century: a calendar can show it."""
Seconds = Annotated[float, Meta(ge=0, le=4e10)]
"""A span of time."""
Text = Annotated[str, Meta(max_length=65_536)]
TopicName = Annotated[str, Meta(max_length=1000)]
"""A name made of words."""
JSON = Meta(extra={"json": True})
"""Marks what is stored as JSON text."""

State = Literal[
    "new", "starting", "running", "paused", "stopping", "stopped", "finished", "dead", "stalled"
]
"""The state of a session and its trainer. `dead`: the trainer's process is gone without having
reported its end. `stalled`: the trainer holds the session but has shown no sign of life for 15 s.
`finished`: the source has ended or --articles is reached. `new`: nothing has run on the session
yet."""
BoundBy = Literal["network", "parsing", "training"]
Role = Literal["trained", "held_out", "skipped"]

NO_KNOWN_WORD = "no known word"
"""The reason for skipping an article without any word of the vocabulary."""
UNREAD = "could not be read"
"""The reader crashed on this article; the log names it."""
HELD_OUT_ALREADY = "already held out"
"""For an article in the evaluation set: training on it would flatter every score."""
KNOWN_ID = "already in the session"
"""For an added document with the id of one that the session had before."""


MOST_SCORE = 700.0
"""No log-likelihood per word is further from 0, so that its exponential is a number."""


def perplexity(log_likelihood: Any) -> Any:
    """exp(-``log_likelihood``), for a number or an array: finite, whatever a stranger's session
    holds."""
    return np.exp(-np.clip(log_likelihood, -MOST_SCORE, MOST_SCORE))


def per_hour(articles: int, seconds: float) -> float:
    """Articles trained per hour of trainer running time; `articles_per_hour` everywhere means this.

    It is finite, whatever a stranger's session holds.
    """
    if seconds <= 0:
        return 0.0
    return min(articles / seconds * 3600, LARGEST_IN_FULL)


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
    measured_at: int | None = None
    """Articles at that evaluation."""
    prequential_log_likelihood: float | None = None
    """Of the newest articles before they were trained on, if a model of the session has a
    half-life."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Rates at one instant (seconds since the epoch); the store keeps those of an hour, one every 2
    s."""

    at: Moment
    crawl_rate: Rate
    """Articles per second that came in."""
    train_rate: Rate
    """Articles per second that were learnt."""
    queue: Count
    """Articles crawled and waiting to be trained."""


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the session's log."""

    at: Moment
    level: Literal["info", "warning", "error"]
    message: Text


DOING = ("inferring ", "laying out ", "placing ", "reading ", "saving ")
"""How `TrainerActivity.waiting_for` begins if it says what is done, instead of what is awaited."""


@dataclass(frozen=True, slots=True)
class TrainerActivity:
    """What a trainer is doing. It writes this record with every heartbeat, and every reader uses
    it.

    The defaults mean "not known", for values that a trainer does not report.
    """

    article_limit: Count | None = None
    given: Mapping[str, object] = field(default_factory=dict)
    """The options given for this run only, by name, such as ``{"rpm": 60}``."""
    waiting_for: Text | None = None
    waiting_until: Moment | None = None
    """Seconds since the epoch, if the wait has a known end."""
    failing: bool = False
    """Whether ``waiting_for`` is a sentence on what went wrong, not a name for what is awaited or
    done."""
    elapsed_seconds: Rate = 0.0
    """As in `Status`, up to now."""
    next_measurement: Count | None = None
    """Articles at the next evaluation of the models."""
    compiling: bool = False
    """Whether training, or the parsing of the first articles, waits for kernels to be compiled, as
    happens once for each kind of model and of texts after an installation."""
    starting_over: Count = 0
    """From how many articles topics are just starting over; 0 if they are not."""
    bound_by: BoundBy | None = None
    """What has limited the run most often of late."""
    crawl_rate: Rate = 0.0
    """As in `Flow`, like the next two."""
    train_rate: Rate = 0.0
    queue: Count = 0
    requests: Count = 0
    requests_last_minute: Count = 0
    allowed_per_minute: Count | None = None
    latency_seconds: Rate | None = None
    batch_pages: Count | None = None
    retries: Count = 0
    throttled: Count = 0
    throttled_at: Moment | None = None
    failed_at: Moment | None = None
    own_wait: bool = False
    """Whether the wait for the next retry is our own choice, so that a person may end it."""
    unsaved: bool | None = None
    """Whether anything has changed since the last commit."""
    errors: tuple[tuple[Moment, Text], ...] = ()
    """(time, text) of the source's last few errors, newest last."""
    pace: Rate = 0.0
    """Seconds over which the source spreads its articles; 0: they come as fast as possible."""
    seconds_left: Seconds | None = None
    """The seconds until the source has been read or a limit of the run is reached, while training;
    None while they cannot be told."""
    seconds_left_range: tuple[Seconds, Seconds] | None = None
    """The bounds between which they probably are."""
    requests_seconds: Rate = 60.0
    """The seconds over which `requests_last_minute` are counted, fewer in a run's first minute."""

    def wait(self, now: float) -> str:
        """What it waits for, and for how long: "127.0.0.1 refuses connections; next try in 5 s"."""
        if self.waiting_for is None:
            return ""
        left = 0.0 if self.waiting_until is None else self.waiting_until - now
        if not self.failing:
            if self.waiting_for.startswith(DOING):
                return self.waiting_for
            if left < 1:
                return f"waiting for {self.waiting_for}"
            return f"waiting {age(left)} for {self.waiting_for}"
        if self.waiting_until is None:
            return self.waiting_for
        if left < 1:
            return f"{self.waiting_for}; trying again"
        return f"{self.waiting_for}; next try in {age(left)}"

    @property
    def time_left(self) -> str:
        """The time left in words; "" while it cannot be told."""
        if self.seconds_left is None:
            return ""
        low, high = self.seconds_left_range or (self.seconds_left, self.seconds_left)
        return left_in_words(self.seconds_left, low, high)

    def ended(self) -> "TrainerActivity":
        """What remains of the record when the trainer is gone: counts, but nothing momentary."""
        waiting = ("waiting_for", "waiting_until", "failing", "compiling", "starting_over")
        rates = (
            "bound_by",
            "crawl_rate",
            "train_rate",
            "requests_last_minute",
            "requests_seconds",
            "next_measurement",
            "pace",
            "seconds_left",
            "seconds_left_range",
        )
        none = TrainerActivity()
        return replace(self, **{name: getattr(none, name) for name in (*waiting, *rates)})


class Scored(NamedTuple):
    """A minibatch as the models predicted it before it was trained."""

    articles: PositiveCount
    words: Count
    """The words that were hidden and predicted, in a sample of the articles."""
    nats: tuple[Annotated[float, Meta(ge=-1e15, le=1e15)], ...]
    """The log-likelihood of all of them, for each model."""


@dataclass(slots=True)
class Progress:
    """The progress of the stream: the one row of the table `progress`.

    Always ``crawled = articles + held_out + pending + skipped``. A document that is read again
    counts again, in ``crawled``, ``articles`` and ``tokens``.
    """

    articles: Count = 0
    tokens: Count = 0
    held_out: Count = 0
    crawled: Count = 0
    pending: Count = 0
    skipped: Count = 0
    skips: Annotated[dict[Text, Count], JSON] = field(default_factory=dict)
    """``skipped`` by reason."""
    again: Count = 0
    """How many of the ``articles`` had been trained before, in an earlier pass."""
    minibatches: Count = 0
    pending_offset: Count = 0
    """Documents of the first pending row that are already trained."""
    position: Annotated[dict[str, Any] | None, JSON] = None
    lap: Rate | None = None
    """The share of the work that is done: of the source that was read, over all passes and the last
    reading."""
    renew_from: int | None = None
    """Number of the first article still to be inferred again; None if there is none. These are the
    newest articles; but if it is negative, those of the last reading, from its absolute value
    on."""
    stale: bool = False
    """Whether the topics of all articles so far must be inferred again, since the models' topics
    have started over."""
    prequential: Annotated[tuple[Scored, ...], JSON] = ()
    """The newest minibatches that together have at least 1,000 articles; none if no model
    forgets."""
    finished: bool = False
    elapsed_seconds: Seconds = 0.0
    bytes_read: Count = 0
    next_seq: PositiveCount = field(default=1, compare=False)
    """Number of the next article, as of the last commit. No number is used twice, even if
    --keep-articles drops rows."""
    committed_at: Moment = field(default=0.0, compare=False)
    """When that was, in seconds since the epoch."""

    @property
    def documents(self) -> int:
        """The articles trained, each counted once."""
        return self.articles - self.again

    @property
    def in_last_reading(self) -> bool:
        """Whether all is learnt, and the user's own documents are read once more to infer their
        topics."""
        return self.renew_from is not None and self.renew_from < 0

    @property
    def pass_(self) -> int:
        """The pass of the newest article, from 1."""
        return self.pass_of(self.articles)

    def pass_of(self, articles: int) -> int:
        """The pass that the last of this many articles belongs to, from 1."""
        if not articles:
            return 1
        finished_before = (articles - 1) // self.documents
        return finished_before + 1

    def predicted(self, number: int) -> float | None:
        """The log-likelihood per word, by the model of this number, of the newest articles before
        they were trained; None if no word was predicted."""
        if any(number >= len(batch.nats) for batch in self.prequential):
            raise Damaged("progress.prequential lacks a model")
        words = sum(batch.words for batch in self.prequential)
        if not words:
            return None
        return sum(batch.nats[number] for batch in self.prequential) / words

    def skip(self, reason: str, number: int) -> None:
        """Count ``number`` more skipped articles."""
        if number:
            self.skipped += number
            self.skips[reason] = self.skips.get(reason, 0) + number


@dataclass(slots=True, kw_only=True, repr=False)
class Status(Progress):
    """A session at one moment. Fields that `status --json` has, too, mean the same there; the
    others are for the screen."""

    session: str
    state: State
    running: bool
    pid: int | None
    source: str
    source_name: str
    held_out_target: int
    articles_per_hour: float
    checkpoint_age_seconds: float | None
    heartbeat_age_seconds: float | None
    activity: TrainerActivity
    """The activity of the running trainer, or what remains of the last one's."""
    models: tuple[ModelStatus, ...]
    passes: int
    """How many times all documents are read, except those that were added later."""
    replicas: int = 0
    """How many more models learn beside each of `models`, with other seeds."""
    added: bool = False
    """Whether documents were added later, which are read once."""
    suspended: bool = False
    """Whether the trainer is known to do nothing until it is continued, as after Ctrl+Z."""
    death: str = ""
    """How a trainer started by this process died: "killed by signal 9"."""

    def __repr__(self) -> str:
        account = (
            f"{self.state}, {self.documents:,} {noun(self.source)}, {self.articles_per_hour:,.0f} "
            "an hour"
        )
        for model in self.models:
            if model.perplexity:
                account += f"; {model.name} perplexity {model.perplexity:,.1f}"
        return f"<Status: {account}>"

    def documents_after(self, articles: int) -> int:
        """How many documents had been trained after this many articles, each counted once."""
        # All later passes over the first documents come before those that were added.
        first = self.documents
        if self.added and self.passes > 1:
            first = self.again // (self.passes - 1)
        return max(min(articles, first), articles - self.again)

    @property
    def waiting_for(self) -> str | None:
        """What the trainer waits for, in plain words."""
        return self.activity.waiting_for

    @property
    def seconds_left(self) -> float | None:
        """Seconds until everything wanted has been read; None if that is not known."""
        return self.activity.seconds_left if self.state == "running" else None

    @property
    def seconds_left_range(self) -> tuple[float, float] | None:
        """The bounds between which `seconds_left` probably is."""
        return self.activity.seconds_left_range if self.state == "running" else None

    @property
    def time_left(self) -> str:
        """The time left in words: "12 h left"; "" if it is not known."""
        return self.activity.time_left if self.state == "running" else ""

    @property
    def lively(self) -> bool:
        """Whether a trainer shows signs of life, so that its rates are current."""
        return self.running and self.state != "stalled"

    @property
    def hindered(self) -> bool:
        """Whether the trainer could work, but something went wrong that it waits for."""
        # While training sets the pace, the wait does not leave the trainer without work.
        return (
            self.state == "running"
            and self.activity.failing
            and self.activity.bound_by != "training"
        )

    @property
    def may_retry(self) -> bool:
        """Whether the trainer waits to try again, and only because it chose to."""
        return self.hindered and self.activity.own_wait and self.activity.waiting_until is not None


@dataclass(frozen=True, slots=True)
class Curve:
    """One metric of one model: four arrays of equal length, oldest first. Counts are floats, ready
    to be drawn."""

    articles: NDArray[np.float64]
    tokens: NDArray[np.float64]
    seconds: NDArray[np.float64]
    """Trainer running time over all runs."""
    values: NDArray[np.float64]

    def up_to(self, articles: int) -> "Curve":
        """The part up to this many articles."""
        end = int(np.searchsorted(self.articles, articles, side="right"))
        return Curve(self.articles[:end], self.tokens[:end], self.seconds[:end], self.values[:end])


SNAPSHOT_WORDS = 20
"""The words of each topic stored in a snapshot: so many by probability, and so many as they are
shown."""
SHOWN_WORDS = 10
"""The number of words shown of a topic, unless more are asked for."""
COHERENT_WORDS = 10
"""The number of a topic's most probable words on which its coherence is measured."""


TopicChange = Literal[
    "born",
    "died",
    "split",
    "merged",
    "renamed",
    "area_born",
    "area_merged",
    "area_died",
    "started_over",
]


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """Something that happened to a topic; for the meanings see `Change`.

    When all topics have started over, it is about the largest one.
    """

    model: str
    articles: Count
    event: TopicChange
    topic: Count
    other: Count | None
    """The topic that was born of a split, or lives on after a merger."""
    name: TopicName
    """The name of the topic that was born, died, or was renamed; of an area, if the event is about
    one."""

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
            case "area_born":
                return f"#{self.topic} leads a new area: {self.name}"
            case "area_merged":
                return (
                    f"the area {self.name}, led by #{self.topic}, joins the area of #{self.other}"
                )
            case "area_died":
                return f"the area {self.name}, led by #{self.topic}, has dissolved"
            case "started_over":
                return "all topics started over, from what the texts have in common"


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic as it is now, with its recent history."""

    topic: int
    name: str
    """The name given to it, otherwise the words that tell it apart."""
    share: float
    words: tuple[tuple[str, float], ...]
    """Its most probable words, as many as requested: (word, probability)."""
    shown: tuple[tuple[str, float], ...]
    """As many words in the order in which they are shown: those first that tell it apart and go
    with one another."""
    newcomers: frozenset[str]
    """Words that are among the first ten of `words` or of `shown`, and were among neither when the
    trend begins."""
    trend: tuple[float, ...]
    """Shares from `since` to now, oldest first."""
    articles: int
    """The number of articles at the newest snapshot."""
    since: int
    """Where the trend begins: the snapshot nearest to half of `articles`, or the first one."""
    hidden: bool = False
    """Whether lists leave it out."""
    found: float | None = None
    """The part of the model's replicas that have it, from 0 to 1; None without replicas."""

    @property
    def all_words(self) -> list[str]:
        """Those of `shown`, then the others of `words`."""
        return list(dict(self.shown) | dict(self.words))

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
    leading: tuple[NDArray[np.int32], NDArray[np.float32]]
    """(K, n) the most probable words, by id, and their probabilities; most probable first."""
    shown: tuple[NDArray[np.int32], NDArray[np.float32]]
    """(K, m) the same of the words in the order in which they are shown."""
    shares: NDArray[np.float32]
    """(K,)"""
    found: NDArray[np.float32] | None = None
    """(K,) the part of the model's replicas that have each topic; None without replicas."""


@dataclass(frozen=True, slots=True)
class ShareHistory:
    """The share of every topic of a model at every stored point, oldest first."""

    articles: NDArray[np.int64]
    """(S,)"""
    shares: NDArray[np.float32]
    """(S, K)"""
    own: NDArray[np.float32]
    """(S, K) the topic's own part of each share: the share times the distinctness of its words
    (`distinctness`). It grows when a topic is born, even if shares hardly move."""

    def up_to(self, articles: int) -> "ShareHistory":
        """The part up to this many articles."""
        end = int(np.searchsorted(self.articles, articles, side="right"))
        return ShareHistory(self.articles[:end], self.shares[:end], self.own[:end])


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """One article of the stream, and its topics in each model."""

    seq: int
    page_id: int
    title: str
    revision_id: int
    words: int
    role: Role
    topics: tuple[tuple[str, int, float], ...] = ()
    """(model, topic, proportion) with each model's largest topic. Empty for an article that was not
    trained on, except for one held out of the user's own documents once the session has ended."""
    id: str | None = None
    """Its id in its own collection, "" if it has none; None: the source has no ids at all."""
    snippet: str | None = None
    """The beginning of its text; None if the session does not keep it."""

    @property
    def called(self) -> str:
        """What it is called in a list."""
        return called(self.title, self.snippet)

    def largest_of(self, model: str) -> tuple[int, float] | None:
        """Its largest topic in this model, with the proportion; None if it has no topics."""
        for name, topic, proportion in self.topics:
            if name == model:
                return topic, proportion
        return None


@dataclass(frozen=True, slots=True)
class PastRun:
    """One trainer's run, for restart marks on the chart."""

    started_at: Moment
    ended_at: Moment | None
    first_article: Count
    """`articles` when it began."""
    reason: Text | None
    """Why it ended, in words."""
