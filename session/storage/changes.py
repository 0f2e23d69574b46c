"""What a commit writes to the session file."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from wikitopics.session.records import Role, TopicEvent, TopWords
from wikitopics.session.storage.articles import ArticleTopics
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.codec.topics import TopicNames
from wikitopics.session.storage.word_counts import WordCounts


@dataclass(slots=True)
class Changes:
    """Everything since the last commit."""

    pending: list[tuple[int, Block]] = field(default_factory=list)
    articles: list[tuple[Block, Role, ArticleTopics | None]] = field(default_factory=list)
    """Articles read, with their topics if they were trained."""
    renewed: list[tuple[Sequence[int], ArticleTopics]] = field(default_factory=list)
    """The present topics of articles that were trained some time ago, after their numbers, which ascend."""
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
    models: dict[int, dict[str, object]] = field(default_factory=dict)
    """The columns of their rows. They are packed one after another, and before a commit begins."""
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
