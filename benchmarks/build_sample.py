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
"""Shorter articles, stubs included: in the snapshot, nearly half are."""
ONE_VILLAGE_IN = 8
"""A program wrote an eighth of this snapshot, on Polish villages, in the same words; these are
thinned."""
MAX_DISTINCT = 255
"""Of an article with more distinct words than these, those that occur most often are kept."""
MAX_COUNT = 255
"""A count is stored in a byte."""
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
    for line in sorted(lines, key=_hash_of_id):
        ids, counts = vocabulary.count(line["text"])
        is_disambiguation = "may refer to" in line["text"]
        if is_disambiguation or len(ids) < 3 or not line["title"].isprintable():
            continue
        if village in ids:
            villages += 1
            if villages % ONE_VILLAGE_IN != 0:
                continue
        if counts.sum() >= LONG_WORDS:
            chosen = long
            wanted = LONG
        else:
            chosen = short
            wanted = SHORT
        if len(chosen) == wanted:
            continue
        if len(ids) > MAX_DISTINCT:
            by_count = np.argsort(-counts, kind="stable")
            most_frequent = np.sort(by_count[:MAX_DISTINCT])
            ids = ids[most_frequent]
            counts = counts[most_frequent]
        chosen.append((line["title"], ids, np.minimum(counts, MAX_COUNT)))
    long_to_each_short = len(long) // len(short)
    for number, article in enumerate(short):
        long.insert(number * (long_to_each_short + 1), article)
    return long


def _hash_of_id(line: dict[str, str]) -> bytes:
    return hashlib.sha256(str(line["id"]).encode()).digest()


def encode(articles: list[Article], vocabulary: Vocabulary) -> bytes:
    """The columns of the sample, one after another."""
    all_ids = np.concatenate([ids for _, ids, _ in articles])
    occurs_in = np.bincount(all_ids, minlength=len(vocabulary))
    by_frequency = np.argsort(-occurs_in, kind="stable")
    stored_words = by_frequency[: np.count_nonzero(occurs_in)]
    # A word's rank is its id in the sample: 0 is the word of most articles.
    rank = np.full(len(vocabulary), -1)
    rank[stored_words] = np.arange(len(stored_words))
    # Articles are stored by their rarest word, so that like stands beside like, which packs better.
    rarest_word = [int(rank[ids].max()) for _, ids, _ in articles]
    stored = sorted(range(len(articles)), key=rarest_word.__getitem__)
    places = np.empty(len(articles), dtype="<u2")
    places[stored] = np.arange(len(articles))
    titles: list[str] = []
    gaps_by_article: list[NDArray[np.int64]] = []
    counts_by_article: list[NDArray[np.int32]] = []
    for number in stored:
        title, ids, counts_of_ids = articles[number]
        ranks = rank[ids]
        by_rank = np.argsort(ranks)
        titles.append(title)
        # Ranks ascend, so that only how many are left out between two of them is stored.
        gaps_by_article.append(np.diff(ranks[by_rank], prepend=-1) - 1)
        counts_by_article.append(counts_of_ids[by_rank])
    gaps = np.concatenate(gaps_by_article)
    counts = np.concatenate(counts_by_article)
    names = {"words": [vocabulary.words[i] for i in stored_words], "titles": titles}
    text = json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    columns = (
        np.array([len(text), len(articles), len(gaps)], dtype="<u4"),
        np.frombuffer(text, dtype=np.uint8),
        places,
        np.array([len(of_article) for of_article in gaps_by_article], dtype=np.uint8),
        (gaps & 255).astype(np.uint8),  # the low bytes
        (gaps >> 8).astype(np.uint8),  # the high bytes
        (counts - 1).astype(np.uint8),
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
