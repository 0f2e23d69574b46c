"""How many events a session reports about its topics: ten runs of each kind of model.

Articles come in another order for each seed; minibatches, snapshots and events are as in a session.
`short` and `long` (read five times) are taken for parts of 7,000,000 articles; the demo's sample
has the demo's settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple, get_args

import numpy as np

from benchmarks.data import sample, split
from benchmarks.harness import Experiment, Figures, Points, table
from wikitopics.crawler.embedded import Demo
from wikitopics.model import Minibatch, OnlineModel, kinds
from wikitopics.model.coherence import Cooccurrences
from wikitopics.model.relevance import RELEVANCE
from wikitopics.model.shown import CANDIDATES, in_shown_order
from wikitopics.session.records import SNAPSHOT_WORDS, TopicChange, TopicEvent, TopWords
from wikitopics.session.storage.counts import REFERENCE_ARTICLES
from wikitopics.session.training.chronicle import Chronicle
from wikitopics.session.training.schedule import minibatch_size, snapshot_due

EXPERIMENT = Experiment("events", "how much a session tells of its topics")
KINDS = ("lda", "scvb0", "hdp")
CHANGES: tuple[TopicChange, ...] = get_args(TopicChange)
SETTLED = 10_000
"""The article count from which events are counted separately too."""


class Corpus(NamedTuple):
    """Articles, and the settings of a session of them; None: the model's default."""

    words: Sequence[str]
    articles: Minibatch
    passes: int = 1
    size: int = 7_000_000
    topics: int | None = None
    minibatch: int | None = None


def corpora() -> dict[str, Corpus]:
    """The corpora by name."""
    presets: Mapping[str, Any] = Demo.presets
    demo_words, demo_articles = sample()
    return {
        "short": Corpus(split("short").words, split("short").train),
        "long": Corpus(split("long").words, split("long").train, passes=5),
        "demo": Corpus(
            demo_words,
            demo_articles,
            size=demo_articles.D,
            topics=int(presets["topics"]),
            minibatch=int(presets["batch_size"]),
        ),
    }


def snapshots(model: OnlineModel, corpus: Corpus, seed: int) -> Iterator[TopWords]:
    """Learn, and look at the topics as often as a session does."""
    order = np.random.default_rng(seed).permutation(corpus.articles.D)
    articles = corpus.articles.take(order)
    seen = 0
    last_snapshot = 0
    largest = corpus.minibatch or model.default_batch_size
    while seen < corpus.passes * articles.D:
        start = seen % articles.D
        batch = articles[start : start + minibatch_size(seen, largest)]
        model.learn(batch)
        before = seen
        seen += batch.D
        if snapshot_due(last_snapshot, before, seen) or model.started_over_from:
            last_snapshot = seen
            learnt = articles[: min(seen, REFERENCE_ARTICLES)]
            yield TopWords(
                0,
                seen,
                leading=model.top_words(SNAPSHOT_WORDS),
                shown=in_shown_order(
                    model.relevant_words(CANDIDATES, RELEVANCE), Cooccurrences(learnt)
                ),
                shares=np.asarray(model.topic_shares(), np.float32),
            )


def events(corpus: Corpus, kind: str, topics: int | None, seed: int) -> list[TopicEvent]:
    """The events of one run."""
    cls = kinds.load(kind)
    model = cls.create(
        topics or corpus.topics or cls.default_topics,
        len(corpus.words),
        corpus.size,
        seed=seed,
    )
    chronicle = Chronicle(kind, corpus.words, None, ())
    found: list[TopicEvent] = []
    for snapshot in snapshots(model, corpus, seed):
        take = chronicle.start_over if model.started_over_from else chronicle.note
        found += take(snapshot)
    return found


def counted(name: str, topics: int | None, seeds: int) -> Figures:
    """The events of each kind of model and seed, counted."""
    found: dict[str, list[dict[str, int]]] = {}
    for kind in KINDS:
        found[kind] = []
        for seed in range(seeds):
            run = events(corpora()[name], kind, topics, seed)
            by_change: Counter[str] = Counter(event.event for event in run)
            late = [event for event in run if event.articles >= SETTLED]
            found[kind].append({**by_change, "all": len(run), "late": len(late)})
    return found


class Run(NamedTuple):
    """What a point measures."""

    label: str
    """In the table."""
    corpus: str
    topics: int | None
    """None: the corpus's, or the model's default."""
    seeds: int


RUNS = {
    "short": Run("145,549 short articles, 100 topics (HDP 300)", "short", None, 3),
    "short_300_topics": Run("the same, one seed, 300 topics", "short", 300, 1),
    "long": Run("5,565 long articles five times", "long", None, 3),
    "demo": Run("the demo, 20,000 articles, 50 topics", "demo", None, 3),
}
for _name, _run in RUNS.items():
    EXPERIMENT.add(_name, partial(counted, _run.corpus, _run.topics, _run.seeds))


def medians(points: Points) -> str:
    rows = []
    for name, run in RUNS.items():
        if name in points:
            cells = [_in_words(points[name][kind]) for kind in KINDS]
            rows.append((run.label, *cells))
    return table(("run", "LDA", "SCVB0", "HDP"), rows)


def _in_words(runs: Sequence[Mapping[str, int]]) -> str:
    """The medians of the seeds: of all events, of the late ones, and of each kind of change."""

    def middle(name: str) -> int:
        return int(median([run.get(name, 0) for run in runs]))

    changes = []
    for change in CHANGES:
        if middle(change) > 0:
            changes.append(f"{middle(change)} {change.replace('_', ' ')}")
    return f"{middle('all')} ({middle('late')}): {', '.join(changes)}"


EXPERIMENT.tables["medians"] = medians
