"""What a commit writes to the session file: its `Changes`, and a `ModelRow` for each model."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wikitopics.session.records import TopicEvent, TopWords
from wikitopics.session.storage.articles import ArticleRows, Renewed
from wikitopics.session.storage.blobs import pack_state
from wikitopics.session.storage.codec.models import check_size
from wikitopics.session.storage.codec.topics import TopicNames
from wikitopics.session.storage.documents import Block, Documents
from wikitopics.session.storage.word_counts import WordCounts

if TYPE_CHECKING:
    from wikitopics.model import OnlineModel


@dataclass(slots=True)
class ModelRow:
    """One model as stored: the columns of its row.

    Its state is packed when the row is made: one model after another, and before a commit begins.
    """

    scalars: str
    arrays: bytes
    topics_in_use: int
    updates: int
    rho: float

    @classmethod
    def of(cls, model: "OnlineModel") -> "ModelRow":
        """A model's row as of now. Raises `SessionError` for a model that no session can store."""
        state = model.state()
        check_size(state, model.n_topics, model.n_words)
        scalars, arrays = pack_state(state)
        return cls(
            scalars=scalars,
            arrays=arrays,
            topics_in_use=model.topics_in_use(),
            updates=model.updates,
            rho=float(model.rho),
        )


@dataclass(slots=True)
class Changes:
    """Everything since the last commit."""

    pending: list[tuple[int, Documents]] = field(default_factory=list)
    held_out: list[Documents] = field(default_factory=list)
    articles: list[ArticleRows] = field(default_factory=list)
    renewed: list[Renewed] = field(default_factory=list)
    drops_articles: bool = False
    """Whether `--keep-articles top` now drops articles that are not among the best of a topic."""
    metrics: list[tuple[int, int, int, float, str, float]] = field(default_factory=list)
    """(model, articles, tokens, seconds, metric, value)"""
    snapshots: list[TopWords] = field(default_factory=list)
    topic_names: dict[int, TopicNames] = field(default_factory=dict)
    topic_events: list[tuple[int, TopicEvent]] = field(default_factory=list)
    """For the model with this number."""
    log: list[str] = field(default_factory=list)
    """Log lines about results saved with them, so that each is written once, whatever is trained again."""
    models: dict[int, ModelRow] = field(default_factory=dict)
    first_articles: list[Block] = field(default_factory=list)
    """For a session without a vocabulary yet."""
    reads_first_articles: bool = False
    """Whether all of them are saved with this commit."""
    word_counts: WordCounts | None = None
    """For everything trained; None if nothing was trained."""
    thinned_metrics: set[int] = field(default_factory=set)
    """The article counts whose measurements are dropped."""
    thinned_snapshots: set[int] = field(default_factory=set)
    """The article counts whose snapshots are dropped."""
