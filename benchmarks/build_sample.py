"""Make the sample of articles that the embedded wiki serves: crawler/data/sample.xz.

    python -m benchmarks.build_sample

From each line (``id``, ``title``, ``text``) only the title and the counts of the words of the
shipped English vocabulary are kept, no sentence. crawler/data/README.md states origin and licence;
the layout is described in crawler/embedded/corpus.py, which reads it.
"""

import hashlib
import json
import lzma

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import articles
from benchmarks.harness import ROOT
from wikitopics.vocab import Vocabulary

LONG = 16_000
"""Articles with at least LONG_WORDS words of the vocabulary."""
LONG_WORDS = 30
SHORT = 4_000
"""Shorter ones, stubs included: in the snapshot, nearly half are."""
ONE_VILLAGE_IN = 8
"""A program wrote an eighth of this snapshot, on Polish villages, in the same words; these are
thinned."""
MAX_DISTINCT = 255
"""The most words of an article: of longer articles the words that occur most often are kept."""
FILTERS = [
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "lc": 0,
        "lp": 0,
        "pb": 0,
        "nice_len": 273,
    }
]

Article = tuple[str, NDArray[np.int32], NDArray[np.int32]]
"""Title, ascending word ids, counts."""


def choose(lines: list[dict[str, str]], vocabulary: Vocabulary) -> list[Article]:
    """The articles, ordered by a hash of their id, the short ones spread evenly among the long."""
    village = vocabulary.words.index("gmina")
    long: list[Article] = []
    short: list[Article] = []
    villages = 0
    for line in sorted(lines, key=lambda line: hashlib.sha256(str(line["id"]).encode()).digest()):
        ids, counts = vocabulary.count(line["text"])
        if len(ids) < 3 or "may refer to" in line["text"] or not line["title"].isprintable():
            continue
        if village in ids:
            villages += 1
            if villages % ONE_VILLAGE_IN:
                continue
        chosen, room = (long, LONG) if counts.sum() >= LONG_WORDS else (short, SHORT)
        if len(chosen) < room:
            if len(ids) > MAX_DISTINCT:
                best = np.sort(np.argsort(-counts, kind="stable")[:MAX_DISTINCT])
                ids = ids[best]
                counts = counts[best]
            chosen.append((line["title"], ids, np.minimum(counts, 255)))
    every = len(long) // len(short)
    for place, article in enumerate(short):
        long.insert(place * (every + 1), article)
    return long


def encode(articles: list[Article], vocabulary: Vocabulary) -> bytes:
    """The columns of the sample, one after another."""
    occurs_in = np.bincount(
        np.concatenate([ids for _, ids, _ in articles]), minlength=len(vocabulary)
    )
    order = np.argsort(-occurs_in, kind="stable")[: np.count_nonzero(occurs_in)]
    rank = np.full(len(vocabulary), -1)
    rank[order] = np.arange(len(order))
    # Stored by their most telling word, so that like stands beside like, which packs better.
    stored = sorted(range(len(articles)), key=lambda i: int(rank[articles[i][1]].max()))
    places = np.empty(len(articles), dtype="<u2")
    places[stored] = np.arange(len(articles))
    gaps = []
    counts = []
    for i in stored:
        ranks = rank[articles[i][1]]
        by_rank = np.argsort(ranks)
        gaps.append(np.diff(ranks[by_rank], prepend=-1) - 1)
        counts.append(articles[i][2][by_rank])
    gap = np.concatenate(gaps)
    words = {
        "words": [vocabulary.words[i] for i in order],
        "titles": [articles[i][0] for i in stored],
    }
    text = json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    sizes = np.array([len(text), len(articles), len(gap)], dtype="<u4")
    lengths = np.array([len(of_article) for of_article in gaps], dtype=np.uint8)
    low_bytes = (gap & 255).astype(np.uint8)
    high_bytes = (gap >> 8).astype(np.uint8)
    less_one = (np.concatenate(counts) - 1).astype(np.uint8)
    columns = (
        sizes,
        np.frombuffer(text, dtype=np.uint8),
        places,
        lengths,
        low_bytes,
        high_bytes,
        less_one,
    )
    return b"".join(column.tobytes() for column in columns)


def main() -> None:
    vocabulary = Vocabulary.load("english")
    chosen = choose(list(articles()), vocabulary)
    data = lzma.compress(encode(chosen, vocabulary), filters=FILTERS)
    (ROOT / "crawler" / "data" / "sample.xz").write_bytes(data)
    distinct = np.array([len(ids) for _, ids, _ in chosen])
    words = np.array([counts.sum() for _, _, counts in chosen])
    print(f"{len(chosen)} articles, {len(data)} bytes")
    print(
        f"distinct words: median {np.median(distinct):.0f}, mean {distinct.mean():.1f}, most "
        f"{distinct.max()}"
    )
    print(f"words: median {np.median(words):.0f}, mean {words.mean():.1f}, all {words.sum()}")


if __name__ == "__main__":
    main()
