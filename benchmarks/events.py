"""How much a session tells of its topics: ten runs of each kind of model.

    python -m benchmarks.events          # some minutes; writes benchmarks/results/events.json
    python -m benchmarks.events short-0  # this run's events one by one

Articles come in another order for each seed, minibatches, snapshots and events as in a session. `short` and
`long` (read five times) are taken for parts of 7,000,000 articles, the demo's sample has the demo's settings.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from benchmarks._data import words
from benchmarks.splits import in_order, split
from crawler.embedded.sample import load_sample
from crawler.kinds.demo import Demo
from model import Minibatch, OnlineModel, kinds
from session.records import SNAPSHOT_WORDS, TopicChange, TopicEvent, TopWords
from session.training.chronicle import Chronicle
from session.training.schedule import minibatch_size, snapshot_due
from vocab import Vocabulary

RESULTS = Path(__file__).parent / "results" / "events.json"
KINDS = ("lda", "scvb0", "hdp")
CHANGES: tuple[TopicChange, ...] = get_args(TopicChange)
SETTLED = 10_000
"""Articles from which events are counted once more."""


class Corpus(NamedTuple):
    """Articles, and what a session of them sets; None: the kind's default."""

    words: Sequence[str]
    articles: Minibatch
    passes: int = 1
    size: int = 7_000_000
    topics: int | None = None
    minibatch: int | None = None


def corpora() -> dict[str, Corpus]:
    """By name."""
    sample, presets = load_sample(), Demo.presets
    return {
        "short": Corpus(words(), split("short").train),
        "long": Corpus(Vocabulary.load("english").words, split("long").train, passes=5),
        "demo": Corpus(
            sample.words,
            Minibatch(sample.indptr, sample.word_ids, sample.counts),
            size=int(presets["documents"]),
            topics=int(presets["topics"]),
            minibatch=int(presets["batch_size"]),
        ),
    }


def snapshots(model: OnlineModel, corpus: Corpus, seed: int) -> Iterator[TopWords]:
    """Learn, and look at the topics when a session does."""
    order = np.random.default_rng(seed).permutation(corpus.articles.D)
    articles = in_order(corpus.articles, order)
    seen = kept = 0
    most = corpus.minibatch or model.default_batch_size
    while seen < corpus.passes * articles.D:
        start = seen % articles.D
        batch = articles[start : start + minibatch_size(seen, most)]
        model.learn(batch)
        before, seen = seen, seen + batch.D
        if snapshot_due(kept, before, seen):
            kept = seen
            shares = np.asarray(model.topic_shares(), np.float32)
            yield TopWords(0, seen, *model.top_words(SNAPSHOT_WORDS), shares)


def events(corpus: Corpus, kind: str, topics: int | None, seed: int) -> list[TopicEvent]:
    """What one run tells."""
    cls = kinds.load(kind)
    model = cls.create(
        topics or corpus.topics or cls.default_topics, len(corpus.words), corpus.size, seed=seed
    )
    chronicle = Chronicle(kind, corpus.words, None, ())
    return [event for one in snapshots(model, corpus, seed) for event in chronicle.note(one)]


def main(only: str = "") -> None:
    """All runs, or those of one name."""
    runs = {f"{name}-{seed}": (corpus, None, seed) for name, corpus in corpora().items() for seed in range(3)}
    runs["short-300-topics-0"] = corpora()["short"], 300, 0
    found = []
    print(f"| run | kind | {' | '.join(CHANGES)} | all | after {SETTLED:,} |\n|---|---|{'---|' * 7}")
    for name, (corpus, topics, seed) in runs.items():
        for kind in KINDS if only in ("", name) else ():
            told = events(corpus, kind, topics, seed)
            counted = Counter(event.event for event in told)
            late = sum(event.articles >= SETTLED for event in told)
            numbers = [counted[change] for change in CHANGES]
            print(f"| {name} | {kind} | {' | '.join(map(str, [*numbers, len(told), late]))} |", flush=True)
            found.append({"run": name, "kind": kind, **counted, "all": len(told), "late": late})
            if only:
                print(*(f"{event.articles:>9,}  {event.told()}" for event in told), sep="\n")
    if not only:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
