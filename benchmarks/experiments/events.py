"""How many events a session reports about its topics: ten runs of each kind of model.

Articles come in another order for each seed, minibatches, snapshots and events as in a session.
`short` and `long` (read five times) are taken for parts of 7,000,000 articles, the demo's sample
has the demo's settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple, get_args

import numpy as np

from benchmarks.data import in_order, sample, split
from benchmarks.harness import Experiment, Figures, Points, table
from wikitopics.crawler.embedded import Demo
from wikitopics.model import Minibatch, OnlineModel, kinds
from wikitopics.session.records import SNAPSHOT_WORDS, TopicChange, TopicEvent, TopWords
from wikitopics.session.training.chronicle import Chronicle
from wikitopics.session.training.schedule import minibatch_size, snapshot_due

EXPERIMENT = Experiment("events", "how much a session tells of its topics")
KINDS = ("lda", "scvb0", "hdp")
CHANGES: tuple[TopicChange, ...] = get_args(TopicChange)
SETTLED = 10_000
"""The article count from which events are counted separately too."""


class Corpus(NamedTuple):
    """Articles, and what a session of them sets; None: the kind's default."""

    words: Sequence[str]
    articles: Minibatch
    passes: int = 1
    size: int = 7_000_000
    topics: int | None = None
    minibatch: int | None = None


def corpora() -> dict[str, Corpus]:
    """Corpora by name."""
    presets: Mapping[str, Any] = Demo.presets
    short = split("short")
    long = split("long")
    sample_words, sample_articles = sample()
    return {
        "short": Corpus(short.words, short.train),
        "long": Corpus(long.words, long.train, passes=5),
        "demo": Corpus(
            sample_words,
            sample_articles,
            size=int(presets["documents"]),
            topics=int(presets["topics"]),
            minibatch=int(presets["batch_size"]),
        ),
    }


def snapshots(model: OnlineModel, corpus: Corpus, seed: int) -> Iterator[TopWords]:
    """Learn, and look at the topics as often as a session does."""
    order = np.random.default_rng(seed).permutation(corpus.articles.D)
    articles = in_order(corpus.articles, order)
    seen = kept = 0
    most = corpus.minibatch or model.default_batch_size
    while seen < corpus.passes * articles.D:
        start = seen % articles.D
        batch = articles[start : start + minibatch_size(seen, most)]
        model.learn(batch)
        before = seen
        seen += batch.D
        if snapshot_due(kept, before, seen):
            kept = seen
            shares = np.asarray(model.topic_shares(), np.float32)
            yield TopWords(0, seen, *model.top_words(SNAPSHOT_WORDS), shares)


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
    return [event for one in snapshots(model, corpus, seed) for event in chronicle.note(one)]


def told(name: str, topics: int | None, seeds: int) -> Figures:
    """The events of each kind of model and seed, counted."""
    found: dict[str, Any] = {kind: [] for kind in KINDS}
    for kind in KINDS:
        for seed in range(seeds):
            run: list[TopicEvent] = events(corpora()[name], kind, topics, seed)
            counted: Counter[str] = Counter(event.event for event in run)
            late = sum(event.articles >= SETTLED for event in run)
            found[kind].append({**counted, "all": len(run), "late": late})
    return found


RUNS: Mapping[str, tuple[str, str, int | None, int]] = {
    "short": ("145,549 short articles, 100 topics (HDP 300)", "short", None, 3),
    "short_300_topics": ("the same, one seed, 300 topics", "short", 300, 1),
    "long": ("5,565 long articles five times", "long", None, 3),
    "demo": ("the demo, 20,000 articles, 50 topics", "demo", None, 3),
}
"""By point: its name in the table, the corpus, the number of topics, the seeds."""
for _name, (_, _corpus, _topics, _seeds) in RUNS.items():
    EXPERIMENT.add(_name, partial(told, _corpus, _topics, _seeds))


def medians(points: Points) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for name, (label, *_) in RUNS.items():
            if name in points:
                yield label, *(_in_words(points[name][kind]) for kind in KINDS)

    return table(("run", "LDA", "SCVB0", "HDP"), rows())


def _in_words(runs: Any) -> str:
    def middle(of: str) -> int:
        return int(median([run.get(of, 0) for run in runs]))

    by_change = {change: middle(change) for change in CHANGES}
    changes = ", ".join(f"{number} {change}" for change, number in by_change.items() if number)
    return f"{middle('all')} ({middle('late')}): {changes}"


EXPERIMENT.tables["medians"] = medians
