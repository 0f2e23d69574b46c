"""How large a session's file becomes: bytes as they were measured, said before a disk is full.

docs/scaling.md shows what they come to, and `python -m benchmarks scale.disk` measures them again.
"""

from session.options import KEEP_ARTICLES, KEEP_COUNTS
from session.settings import Settings
from session.storage.articles import DROPPED_EVERY
from session.storage.writer import LARGEST_LOG, TOP_ARTICLES

ARTICLE = 50
"""Of a trained article that is kept: its title, its numbers, and its place in a block."""
LARGEST_TOPIC = 20
"""Of its largest topic in one model, in both orders."""
PROPORTIONS = 21
"""Of all that one model makes of it."""
COUNTS = 800
"""Of its word counts."""
NEWEST = 15_000_000
"""Of the word counts of the newest articles, and of those held out."""
TOPIC = 40_000
"""Of a topic's words over time."""
NUMBER = 4
"""Of a number of a model's topics over words."""


def file_bytes(settings: Settings, n_words: int, articles: int) -> int:
    """What a session comes to with so many articles, the log beside it included."""
    topics = sum(spec.topics for spec in settings.models)
    state = NUMBER * n_words * topics
    counts = COUNTS * articles if settings[KEEP_COUNTS] else 0
    return NEWEST + TOPIC * topics + state + max(LARGEST_LOG, state) + counts + _kept(settings, articles)


def _kept(settings: Settings, articles: int) -> int:
    """By `--keep-articles`."""
    models, topics = len(settings.models), sum(spec.topics for spec in settings.models)
    listed = ARTICLE + models * LARGEST_TOPIC
    match settings[KEEP_ARTICLES]:
        case "all":
            return articles * (listed + models * PROPORTIONS)
        case "top":
            return min(articles, TOP_ARTICLES * topics + DROPPED_EVERY) * listed
        case _:
            return 0
