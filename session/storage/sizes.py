"""Estimates a session file's size from measured sizes in bytes, to warn before a disk is full.

docs/scaling.md shows the totals, and `python -m benchmarks scale.disk` measures them again.
"""

from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.settings import Settings
from wikitopics.session.storage.tables.articles import DROPPED_EVERY
from wikitopics.session.storage.writer import LARGEST_LOG, TOP_ARTICLES

ARTICLE = 50
"""For each stored trained article: its title, its numbers, and its place in a block."""
LARGEST_TOPIC = 20
"""For its largest topic in one model, with the order by topic."""
PROPORTIONS = 21
"""For its topic proportions in one model."""
COUNTS = 800
"""For its word counts."""
NEWEST = 15_000_000
"""For the word counts of the newest and the held-out articles, in total."""
TOPIC = 40_000
"""For each topic: its words over time."""
NUMBER = 4
"""For each entry of a model's (topics, words) array."""


def file_bytes(settings: Settings, n_words: int, articles: int) -> int:
    """The size of a session with this many articles, including its log."""
    models, topics = len(settings.models), sum(spec.topics for spec in settings.models)
    state = NUMBER * n_words * topics
    counts = COUNTS * articles if settings.keeps_counts else 0
    listed = ARTICLE + models * LARGEST_TOPIC
    kept = {
        "all": articles * (listed + models * PROPORTIONS),
        "top": min(articles, TOP_ARTICLES * topics + DROPPED_EVERY) * listed,
        "none": 0,
    }[settings[KEEP_ARTICLES]]
    return NEWEST + TOPIC * topics + state + max(LARGEST_LOG, state) + counts + kept
