"""How well areas hold topics together that meet in articles, and how long they stay the same.

`lift` is how many times more often than topics of random groups of the same sizes two topics of one
area share an article: the geometric mean over all pairs, a topic counting from .02 of an article
on. `least_lift` is that of the area with the least, in articles that the model has not learnt. The
weights in `model.areas` were chosen on articles of full length; those of `short` and of the demo
chose nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Corpus, sample, split
from benchmarks.harness import Experiment, Figures, compared
from benchmarks.measuring import KINDS, growing, train, words
from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA, OnlineModel
from wikitopics.model.areas import NONE, OTHER, Areas
from wikitopics.model.distances import distances
from wikitopics.model.meetings import PRESENT, Meetings
from wikitopics.session.training.schedule import snapshot_due

EXPERIMENT = Experiment("areas", "topics of one area share articles, and areas stay the same")
ARTICLES = 30_000
SETTLED = 10_000
"""Articles from which areas should stay."""
DEMO_UNSEEN = 2_000
NEAREST = 5
"""Neighbours of a topic that should be its neighbours on the map."""
ARTICLES_OF: Mapping[Corpus, str] = {
    "short": "short articles",
    "full": "articles of full length",
}
MODELS: Mapping[str, Callable[[int, int], OnlineModel]] = {
    "lda": lambda W, D: OnlineLDA(100, W, D),
    "scvb0": lambda W, D: SCVB0(100, W, D),
    "hdp": lambda W, D: OnlineHDP(W, D, max_topics=300),
}


def log_ratios(theta: NDArray[np.float32], topics: NDArray[np.int64]) -> NDArray[np.float64]:
    """(U, U) the logarithms of how many times more often than by chance these topics share a
    document. By chance, for each pair, is the geometric mean over all pairs, which is also what
    pairs of random groups have."""
    parts = theta[:, topics].astype(np.float64)
    present = np.where(parts > PRESENT, parts, 0)
    mean = parts.mean(axis=0)
    together = present.T @ present / len(parts)
    log_ratio = np.log((together + 1e-7) / np.outer(mean, mean))
    pairs = np.triu_indices(len(topics), 1)
    centred: NDArray[np.float64] = log_ratio - log_ratio[pairs].mean()
    return centred


def lift(ratios: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """How many times more often than by chance topics of one group share a document; those in
    `OTHER` are in none."""
    same_group = (groups[:, None] == groups) & (groups != OTHER)
    pairs = np.triu_indices(len(groups), 1)
    return float(np.exp(ratios[pairs][same_group[pairs]].mean()))


def least_lift(ratios: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """The lift of the group that has the least, without groups of one topic."""
    sizes = np.bincount(groups)
    several = np.flatnonzero(sizes > 1)
    lifts = []
    for group in set(several.tolist()) - {OTHER}:
        lifts.append(lift(ratios, np.where(groups == group, group, OTHER)))
    return min(lifts)


def changed(before: Areas, now: Areas) -> bool:
    """Whether most topics of an area have another number, which is its colour, than at the last
    snapshot."""
    for area in before.names:
        members = (before.of_topic == area) & (now.of_topic != NONE) & (now.of_topic != OTHER)
        numbers = Counter(now.of_topic[members].tolist())
        if numbers:
            ((commonest, _),) = numbers.most_common(1)
            if commonest != area:
                return True
    return False


def neighbours_kept(far: NDArray[np.float64], places: NDArray[np.floating]) -> float:
    """The share of the nearest topics by distance that are among the nearest on the map."""
    on_map = np.sqrt(np.square(places[:, None] - places).sum(axis=-1))
    shares = []
    for near, near_on_map in zip(_nearest(far), _nearest(on_map), strict=True):
        kept = set(near) & set(near_on_map)
        shares.append(len(kept) / NEAREST)
    return float(np.mean(shares))


def _nearest(distance: NDArray[np.floating]) -> NDArray[np.int64]:
    """(K, NEAREST) the topics nearest to each, itself left out."""
    to_others = distance + np.diag(np.full(len(distance), np.inf))
    return np.argsort(to_others, axis=1)[:, :NEAREST]


def measured(model: OnlineModel, documents: Minibatch, unseen: Minibatch) -> Figures:
    """The figures of one pass over the documents, with snapshots as a session makes them.

    ``unseen``: documents that are not learnt
    """
    meetings = Meetings.none(model.n_topics)
    thetas: list[NDArray[np.float32]] = []
    areas: Areas | None = None
    whole: Areas | None = None
    """What areas would be if each topic belonged to one."""
    seen = 0
    last_snapshot = 0
    snapshots_compared = 0
    changes = 0
    for batch in growing(documents, model.default_batch_size):
        theta = model.learn(batch)
        if model.started_over_from:  # what was known of the topics is of others now
            meetings = Meetings.none(model.n_topics)
            thetas = []
            areas = None
            whole = None
        thetas.append(theta)
        meetings.add(theta)
        before = seen
        seen += batch.D
        if not snapshot_due(last_snapshot, before, seen) and seen < documents.D:
            continue
        earlier = areas
        last_snapshot = seen
        now = Areas.of(model, meetings, earlier).placed(earlier)
        named = now.members.keys() - {OTHER}
        areas = replace(now, names=dict.fromkeys(named, ()))
        whole = Areas.by_distance(now.far, now.topics, model.n_topics, whole)
        if earlier is not None and before >= SETTLED:
            snapshots_compared += 1
            if changed(earlier, areas):
                changes += 1
    assert areas is not None
    assert whole is not None
    topics = areas.topics
    ratios = log_ratios(np.concatenate(thetas), topics)
    unseen_ratios = log_ratios(model.infer(unseen), topics)
    groups = areas.of_topic[topics].astype(np.int64)
    word_ids, probabilities = model.top_words(20)
    apart_by_words = distances((word_ids[topics], probabilities[topics]))
    areas_by_words = Areas.by_distance(apart_by_words, topics, model.n_topics)
    groups_by_words = areas_by_words.of_topic[topics].astype(np.int64)
    sizes = np.bincount(groups[groups != OTHER])
    shares = model.topic_shares()
    return {
        "topics": len(topics),
        "areas": int(np.count_nonzero(sizes)),
        "other": int(np.count_nonzero(groups == OTHER)),
        "other_share": float(shares[topics[groups == OTHER]].sum() / shares[topics].sum()),
        "least_lift": least_lift(unseen_ratios, groups),
        "least_lift_if_all": least_lift(
            unseen_ratios,
            whole.of_topic[topics].astype(np.int64),
        ),
        "lift": lift(ratios, groups),
        "lift_by_leading_words": lift(ratios, groups_by_words),
        "largest": float(sizes.max() / len(topics)),
        "snapshots": snapshots_compared,
        "changed": changes,
        "neighbours_kept": neighbours_kept(areas.far, areas.places),
    }


def pass_over(kind: str, corpus: Corpus) -> Figures:
    documents = train(corpus)[:ARTICLES]
    return measured(
        MODELS[kind](words(corpus), documents.D),
        documents,
        split(corpus).report,
    )


for _kind in MODELS:
    for _corpus in ("full", "short"):
        EXPERIMENT.add(f"{_kind}_{_corpus}", partial(pass_over, _kind, _corpus))


@EXPERIMENT.point()
def demo() -> Figures:
    """The articles of `wikitopics demo`, in their order; the last 2,000 are not learnt."""
    words, documents = sample()
    learnt = documents[: documents.D - DEMO_UNSEEN]
    unseen = documents[documents.D - DEMO_UNSEEN :]
    return measured(OnlineLDA(50, len(words), learnt.D), learnt, unseen)


LABELS = {"demo": "the demo"}
for _corpus, _articles in ARTICLES_OF.items():
    for _kind, _name in KINDS.items():
        LABELS[f"{_kind}_{_corpus}"] = f"{_name}, {_articles}"
COLUMNS = {
    "topics in areas": "{topics} in {areas}",
    "of none": "{other} ({other_share:.1%} of words)",
    "least lift if all had one": "{least_lift_if_all:.1f}",
    "least lift": "{least_lift:.1f}",
    "lift by leading words": "{lift_by_leading_words:.1f}",
    "lift": "{lift:.1f}",
    "largest area": "{largest:.0%}",
    "changed": "{changed} of {snapshots}",
    "neighbours kept": "{neighbours_kept:.0%}",
}
EXPERIMENT.tables["compared"] = partial(compared, LABELS, COLUMNS)
