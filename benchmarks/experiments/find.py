"""Whether a few words find the text that they are from, and others of its class.

A session learns a labelled set with its defaults. Three random known words of a text are asked for;
the text itself should be among the first ten, and the others should have its label. The weight of
topics in `find` and the constants of BM25 were chosen on M10 and SearchSnippets, with other
questions.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import wikitopics as wt
from benchmarks.data import labelled
from benchmarks.harness import Experiment, Figures, Points, table
from wikitopics.session.analysis.similar import Recorded
from wikitopics.session.storage.reader import SessionReader

EXPERIMENT = Experiment(
    "find", "whether a few words find the text that they are from", data="labelled"
)
SETS = ("M10", "SearchSnippets", "StackOverflow", "DBPedia_IT", "BBC_News")
ASKED = 300
WORDS = 3
FEWEST = 6
"""Texts of fewer different known words are not asked for."""
FIRST = 10
WAYS = {
    "topics": "likeness of topics",
    "both": "likeness of topics and words, as of a title",
    "similar": "`similar(text=…)`",
    "find": "`find(…)`",
}


def measure(name: str) -> Figures:
    """By way, how often the text is among the first ten, and the part of the other ones that have
    its label."""
    _, rows = labelled(name)
    texts = [text for text, _, _ in rows]
    labels = [label for _, _, label in rows]
    with TemporaryDirectory() as folder:
        session = wt.train(texts, Path(folder) / "texts.db", progress=False)
        with SessionReader(session.path) as reader:
            recorded = Recorded(reader, reader.models()[0])
        vocabulary = session.vocabulary()
        random = np.random.default_rng(11)
        found: dict[str, list[tuple[bool, float]]] = {way: [] for way in WAYS}
        asked = 0
        for number in random.permutation(len(texts)).tolist():
            known = list(dict.fromkeys(filter(vocabulary.__contains__, texts[number].split())))
            if len(known) < FEWEST:
                continue
            words = " ".join(random.permutation(known)[:WORDS].tolist())
            counted = vocabulary.count(words)
            (theta,) = session.infer([words])
            pages = {
                "topics": _first(recorded, recorded.likeness(theta)),
                "both": _first(recorded, recorded.likeness(theta, counted)),
                "similar": [one.page_id for one in session.similar(text=words, limit=FIRST + 1)],
                "find": [one.page_id for one in session.find(words, n=FIRST + 1).documents],
            }
            for way, of_way in pages.items():
                found[way].append(_judged(of_way, number + 1, labels))
            asked += 1
            if asked == ASKED:
                break
    figures: dict[str, float] = {}
    for way, judged in found.items():
        among_ten, same_label = np.mean(np.array(judged, np.float64), axis=0)
        figures[f"{way}_found"] = float(among_ten)
        figures[f"{way}_label"] = float(same_label)
    return figures


def _first(recorded: Recorded, likeness: np.ndarray) -> list[int]:
    """The page ids of the documents most alike."""
    rows = np.argsort(-likeness, kind="stable")[: FIRST + 1]
    first: list[int] = recorded.articles.page_ids[rows].tolist()
    return first


def _judged(pages: list[int], own: int, labels: list[str]) -> tuple[bool, float]:
    """(whether a text is among the first ten, the part of the ten others with its label)."""
    others = [page for page in pages if page != own][:FIRST]
    same = [labels[page - 1] == labels[own - 1] for page in others]
    part = float(np.mean(same)) if same else 0.0
    return own in pages[:FIRST], part


for _name in SETS:
    EXPERIMENT.add(_name, partial(measure, _name))


def questions(points: Points) -> str:
    """How often a text is found among the first ten, and how many of the others have its label."""
    rows = []
    for way, label in WAYS.items():
        cells = [
            f"{points[name][f'{way}_found']:.2f} / {points[name][f'{way}_label']:.2f}"
            for name in SETS
        ]
        rows.append((label, *cells))
    return table(("", *SETS), rows)


EXPERIMENT.tables["questions"] = questions
