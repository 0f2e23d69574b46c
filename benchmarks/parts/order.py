"""What the order of a dump matters: the same articles by age, as a session reads them, and shuffled.

A dump is made of 60,000 articles of the shared corpus, sorted by page id. Its order is found as for a
session, and what that holds out is held out from all three orders. Models have their defaults and
D = 7,000,000; the score is of document completion, in nats a word.
"""

import bz2
import functools
import json
import lzma
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from benchmarks.corpora import CORPUS
from benchmarks.frame import ENGINE_ROOMS, Figures, Part, table
from benchmarks.measuring import growing
from benchmarks.splits import in_order
from wikitopics.crawler.dumps.order import rounds
from wikitopics.crawler.dumps.ranges import LocalFile
from wikitopics.crawler.dumps.survey import survey
from wikitopics.crawler.source import SourceInfo, default_held_out
from wikitopics.model import CompletionSet, Minibatch, kinds
from wikitopics.session.storage.documents import Documents
from wikitopics.session.training.intake.count_pages import count_part
from wikitopics.vocab import Vocabulary

PART = Part("order", "what the order of a dump is worth", ENGINE_ROOMS)
DOCUMENTS = 7_000_000
POINTS = (1_000, 5_000, 20_000)
INFO = SourceInfo("", None)


def pages() -> Iterator[str]:
    """The articles as XML, the oldest first."""
    with lzma.open(CORPUS / "articles-60k.jsonl.xz", "rt", encoding="utf-8") as lines:
        articles = sorted(map(json.loads, lines), key=lambda article: article["id"])
    for one in articles:
        yield (
            f"<page><title>{escape(one['title'])}</title><ns>0</ns><id>{one['id']}</id><revision>"
            f"<id>1</id><text>{escape(one['text'])}</text></revision></page>\n"
        )


def write(path: Path) -> None:
    """The dump as Wikimedia packs it: a stream for every 100 pages."""
    made = list(pages())
    with path.open("wb") as file:
        file.write(bz2.compress(b'<mediawiki xml:lang="en">\n'))
        for start in range(0, len(made), 100):
            file.write(bz2.compress("".join(made[start : start + 100]).encode()))
        file.write(bz2.compress(b"</mediawiki>\n"))


def as_read(path: Path, vocabulary: Vocabulary) -> tuple[Documents, int]:
    """The articles in the order in which a session reads them, and how many come first, to be held out."""
    file = LocalFile(str(path))
    order = survey([file], [path.stat().st_size], INFO, 0, None)
    read: list[Documents] = []
    for each in rounds(order, [file]):
        counted = [count_part(part, vocabulary, INFO).documents for part in each.parts]
        together = Documents.concatenate(counted)
        read.append(together.take(each.order([documents.page_ids.tolist() for documents in counted])))
    return Documents.concatenate(read), default_held_out(order.articles)


def scores(kind: str, n_words: int, documents: Minibatch, held_out: CompletionSet) -> list[float]:
    """After about as many articles as POINTS gives, and after all."""
    made = kinds.load(kind)
    model = made.create(made.default_topics, n_words, DOCUMENTS, {})
    found: list[float] = []
    learnt = 0
    for batch in growing(documents, model.default_batch_size):
        model.learn(batch)
        learnt += batch.D
        if len(found) < len(POINTS) and learnt >= POINTS[len(found)]:
            found.append(held_out.score(model))
    return [*found, held_out.score(model)]


def measured(kind: str) -> Figures:
    """Scores after POINTS and after all, in each of the three orders."""
    vocabulary = Vocabulary.load("english")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.xml.bz2"
        write(path)
        documents, held_out = as_read(path, vocabulary)
    counts = Minibatch(documents.indptr, documents.word_ids, documents.counts)
    trained, scored = counts[held_out:], CompletionSet(counts[:held_out])
    orders = {
        "by age": np.argsort(documents.page_ids[held_out:]),
        "as read": np.arange(trained.D),
        "shuffled": np.random.default_rng(0).permutation(trained.D),
    }
    return {
        "articles": trained.D,
        "held_out": held_out,
        "scores": {
            name: scores(kind, len(vocabulary), in_order(trained, order), scored)
            for name, order in orders.items()
        },
    }


for _kind in kinds.built_in:
    PART.add(_kind, functools.partial(measured, _kind), minutes=2)


def compared(points: Mapping[str, Figures]) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for kind, found in points.items():
            by_order: Any = found["scores"]
            for name, values in by_order.items():
                yield kind, name, *(f"{value:.3f}" for value in values)

    return table(("model", "order", *(f"{n:,}" for n in POINTS), "all"), rows())


PART.pages["compared"] = compared
