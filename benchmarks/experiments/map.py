"""Whether the map keeps articles that are alike together, and what it costs.

`ten_in_ten`: the share of the ten nearest articles, by the Hellinger distance of all their
proportions, that are among the ten nearest on the map; `ten_in_fifty`: among the 50 nearest;
`same_topic`: how many of the ten nearest on the map have the same largest topic. The numbers
of the map were chosen on 20,000 articles of full length; the demo's articles chose nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Corpus, sample, split
from benchmarks.harness import Experiment, Figures, compared
from benchmarks.measuring import growing, timed
from wikitopics.model import OnlineLDA
from wikitopics.model.areas import Areas
from wikitopics.model.article_map import (
    Landmarks,
    Places,
    chosen_landmarks,
    laid_out,
    packed,
    started,
    unpacked,
)
from wikitopics.model.meetings import Meetings
from wikitopics.model.near import Rows
from wikitopics.model.topic_map import kept
from wikitopics.model.topic_tsne import places
from wikitopics.session.training.schedule import snapshot_due

EXPERIMENT = Experiment("map", "articles that are alike are close on the map")
QUERIES = 2_000
Theta = NDArray[np.float32]


@functools.cache
def learnt(corpus: Corpus | None, articles: int) -> tuple[Theta, Places]:
    """The proportions of articles by the finished model, and the topics' places. No corpus: the
    articles of the demo."""
    if corpus is None:
        words, documents = sample()
        model = OnlineLDA(50, len(words), documents.D)
    else:
        documents = split(corpus).train[:articles]
        model = OnlineLDA(100, split(corpus).n_words, documents.D)
    meetings = Meetings.none(model.n_topics)
    for batch in growing(documents, model.default_batch_size):
        meetings.add(model.learn(batch))
    areas = Areas.of(model, meetings).placed()
    topic_places = np.full((model.n_topics, 2), np.nan)
    topic_places[areas.topics] = areas.places
    return model.infer(documents).astype(np.float32), topic_places


def agreement(theta: Theta, at: Places) -> Figures:
    """How well the map agrees with the articles' proportions."""
    from scipy.spatial import KDTree

    asked = np.random.default_rng(0).choice(len(theta), min(QUERIES, len(theta)), replace=False)
    roots = np.sqrt(theta)
    likeness = roots[asked] @ roots.T
    likeness[np.arange(len(asked)), asked] = -1
    alike = np.argpartition(-likeness, 10, axis=1)[:, :10]
    _, on_map = KDTree(at).query(at[asked], 51)
    near = [row[row != article][:50] for row, article in zip(on_map, asked, strict=True)]
    leading = theta.argmax(axis=1)
    ten = []
    fifty = []
    same = []
    for article, wanted, found in zip(asked, alike, near, strict=True):
        ten.append(np.isin(wanted, found[:10]).mean())
        fifty.append(np.isin(wanted, found).mean())
        same.append((leading[found[:10]] == leading[article]).mean())
    return {
        "ten_in_ten": float(np.mean(ten)),
        "ten_in_fifty": float(np.mean(fifty)),
        "same_topic": float(np.mean(same)),
    }


def begun(theta: Theta, topic_places: Places) -> Places:
    return started(Rows.of(theta), topic_places)


def laid(theta: Theta, topic_places: Places) -> Places:
    rows = Rows.of(theta)
    return laid_out(rows, theta.shape[1], started(rows, topic_places))


def opentsne(theta: Theta, topic_places: Places) -> Places:
    import openTSNE

    begin = openTSNE.initialization.rescale(begun(theta, topic_places))
    found = openTSNE.TSNE(perplexity=30, initialization=begin, n_jobs=1, random_state=0)
    return np.asarray(found.fit(np.sqrt(theta).astype(np.float64)))


WAYS: dict[str, Callable[[Theta, Places], Places]] = {
    "start": begun,
    "layout": laid,
    "opentsne": opentsne,
}
SETS: dict[str, tuple[Corpus | None, int]] = {
    "demo": (None, 20_000),
    "20k": ("full", 20_000),
    "56k": ("full", 60_000),
}
LANDMARKS = (4_096, 8_192, 16_384)


def by(way: str, which: str) -> Figures:
    theta, topic_places = learnt(*SETS[which])
    WAYS[way](theta[:200], topic_places)  # compile first
    seconds, at = timed(lambda: WAYS[way](theta, topic_places))
    return {"seconds": seconds, **agreement(theta, at)}


def continued(which: str) -> Figures:
    """The map continued from its own places."""
    theta, topic_places = learnt(*SETS[which])
    before = laid(theta, topic_places)
    rows = Rows.of(theta)
    seconds, at = timed(lambda: laid_out(rows, theta.shape[1], before, is_later=True))
    moved = float(np.linalg.norm(at - before, axis=1).mean())
    return {"seconds": seconds, "moved": moved, **agreement(theta, at)}


def among(landmarks: int, which: str) -> Figures:
    """All articles placed among some that were laid out; each landmark is placed anew, too."""
    theta, topic_places = learnt(*SETS[which])
    rows = Rows.of(theta)
    chosen = rows.take(chosen_landmarks(len(rows), landmarks))
    K = theta.shape[1]
    laid_out(chosen.take(np.arange(200)), K, started(chosen.take(np.arange(200)), topic_places))
    laying, at = timed(lambda: packed(laid_out(chosen, K, started(chosen, topic_places))))
    found = Landmarks(chosen, K, at)
    found.placed(rows.take(np.arange(10)))
    seconds, stored = timed(lambda: found.placed(rows))
    return {
        "seconds": laying,
        "microseconds": 1e6 * seconds / len(rows),
        **agreement(theta, unpacked(stored)),
    }


for _which in SETS:
    for _way in WAYS:
        _needs = ("openTSNE",) if _way == "opentsne" else ()
        EXPERIMENT.add(f"{_way}_{_which}", partial(by, _way, _which), *_needs)
    EXPERIMENT.add(f"later_{_which}", partial(continued, _which))
    for _landmarks in LANDMARKS:
        EXPERIMENT.add(f"among_{_landmarks}_{_which}", partial(among, _landmarks, _which))


@EXPERIMENT.point()
def night() -> Figures:
    """The topics' map at every snapshot of articles of full length, the last 60 of them."""
    documents = split("full").train
    model = OnlineLDA(100, split("full").n_words, documents.D)
    meetings = Meetings.none(model.n_topics)
    areas: Areas | None = None
    at = np.full((model.n_topics, 2), np.nan)
    rows: list[dict[str, Any]] = []
    seen = 0
    last = 0
    for batch in growing(documents, model.default_batch_size):
        meetings.add(model.learn(batch))
        before = seen
        seen += batch.D
        if not snapshot_due(last, before, seen):
            continue
        last = seen
        areas = Areas.of(model, meetings, areas).placed(areas)
        earlier = at[areas.topics]
        now = areas.places.astype(np.float64)
        fresh = places(areas.far, np.full_like(earlier, np.nan))
        moved = np.linalg.norm(now - earlier, axis=1)
        rows.append(
            {
                "moved": float(np.nanmean(moved)) if rows else 0.0,
                "kept": kept(areas.far, now),
                "kept_anew": kept(areas.far, fresh),
            }
        )
        at[:] = np.nan
        at[areas.topics] = now
    newest = rows[-60:]
    return {
        "snapshots": len(newest),
        "moved": float(np.mean([row["moved"] for row in newest])),
        "still": sum(row["moved"] < 1e-9 for row in newest),
        "kept": float(np.mean([row["kept"] for row in newest])),
        "kept_anew": float(np.mean([row["kept_anew"] for row in newest])),
        "worse": sum(row["kept"] < row["kept_anew"] for row in newest),
    }


NAMES = {
    "start": "disc of the largest topic",
    "layout": "layout",
    "later": "layout, continued",
    "opentsne": "openTSNE, perplexity 30",
}
WHICH = {"demo": "the demo", "20k": "20,000 of full length", "56k": "all of full length"}
LABELS = {}
for _which, _of_articles in WHICH.items():
    for _way, _name in NAMES.items():
        LABELS[f"{_way}_{_which}"] = f"{_of_articles}: {_name}"
    for _landmarks in LANDMARKS:
        LABELS[f"among_{_landmarks}_{_which}"] = f"{_of_articles}: placed among {_landmarks:,}"
COLUMNS = {
    "CPU s": "{seconds:.1f}",
    "10 in 10": "{ten_in_ten:.2f}",
    "10 in 50": "{ten_in_fifty:.2f}",
    "same topic": "{same_topic:.2f}",
    "µs an article": "{microseconds:.0f}",
}
EXPERIMENT.tables["compared"] = partial(compared, LABELS, COLUMNS)
