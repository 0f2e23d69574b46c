"""As many texts as Wikipedia has articles, as Parquet, for the experiment `ready_texts`.

    python -m benchmarks.ready_texts                    7.2 million texts: 20 GB, 8 on disk
    python -m benchmarks.ready_texts --texts 200000

They go to `benchmarks/data/ready`, or to the folder in WIKITOPICS_READY.

A text is drawn from the sentences of two articles (now and then the same twice), in random order,
so that it is about something but is like no other. Text n depends on the articles, the seed and n
alone. The files have the columns `id`, `title`, `url` and `text`, are compressed by zstd, and have
row groups of 10,000 texts, 28 MB: between the 1,000 that Hugging Face's `datasets` writes, and
pyarrow's default of a million.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.data import articles as real_articles
from benchmarks.harness import FOLDER, Unavailable
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

if TYPE_CHECKING:
    import pyarrow

READY = Path(os.environ.get("WIKITOPICS_READY", FOLDER / "ready"))
"""Where the texts are."""
TEXTS = 7_200_000
FILES = 8
ROWS = 10_000
SEED = 0
LEVEL = 3
SHORTEST_ARTICLE = 2_000
"""Bytes of the shortest article that sentences are drawn from: two of these have more of them than
a text takes, so that there are always many ways to choose."""
SHORTEST = 1_250
LONGEST = 4_250
"""Bytes of a text, between which each length is as likely as any other."""
SENTENCE = (20, 1_000)
"""Bytes of the shortest and the longest sentence that is drawn: lists are cut into pieces of few
letters, or are not cut at all."""
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
STORED = 1_200
"""Bytes that a text takes on the disk, rounded up."""
ENGLISH = (0.3, 0.6)
"""The share of stop words in English prose."""


@dataclass(frozen=True)
class Sentences:
    """The sentences of some articles, each with a blank behind it."""

    titles: list[str]
    """Of the articles."""
    data: NDArray[np.uint8]
    """All sentences, one after another."""
    starts: NDArray[np.int64]
    """(S + 1,) where each sentence begins in the data."""
    firsts: NDArray[np.int64]
    """(A + 1,) the first sentence of each article."""
    article: NDArray[np.int64]
    """(S,) the article of each sentence."""


def sentences_of(articles: Iterable[Mapping[str, str]]) -> Sentences:
    """The sentences of those articles that are long enough. Raises `Unavailable` if none is."""
    shortest, longest = SENTENCE
    titles: list[str] = []
    pieces: list[bytes] = []
    firsts = [0]
    for article in articles:
        found = [sentence.encode() + b" " for sentence in _ENDS.split(article["text"])]
        fitting = [sentence for sentence in found if shortest < len(sentence) <= longest]
        if sum(map(len, fitting)) < SHORTEST_ARTICLE:
            continue
        titles.append(article["title"])
        pieces += fitting
        firsts.append(len(pieces))
    if not titles:
        raise Unavailable(f"no article has {SHORTEST_ARTICLE:,} bytes of sentences")
    lengths = [len(piece) for piece in pieces]
    return Sentences(
        titles,
        np.frombuffer(b"".join(pieces), np.uint8),
        np.cumsum([0, *lengths]),
        np.array(firsts),
        np.repeat(np.arange(len(titles)), np.diff(firsts)),
    )


@njit
def _mixed(state: Any) -> Any:
    """A random number of 64 bits for each state: the finalizer of splitmix64."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@njit
def _below(number: Any, limit: int) -> Any:
    """A random number of 64 bits as one below the limit, which has at most 32."""
    return np.int64(((number >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit
def _draw(
    starts: Any,
    firsts: Any,
    article: Any,
    first: int,
    seed: int,
    chosen: Any,
    ends: Any,
    articles: Any,
    sizes: Any,
    digests: Any,
) -> None:
    """Choose the sentences of the texts from number ``first`` on.

    chosen: gets their numbers, one text after another; (T,) ends: where each text ends in it;
    (T, 2) articles: those that it is of; (T,) sizes: its bytes; (T,) digests: a hash of its
    sentences in their order. There are as many texts as fit into `ends`.
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    longest = 0
    for number in range(len(firsts) - 1):
        longest = max(longest, firsts[number + 1] - firsts[number])
    pool = np.empty(2 * longest, np.int64)
    n_chosen = 0
    for text in range(len(ends)):
        state = _mixed(_mixed(np.uint64(seed) + golden) + np.uint64(first + text))
        # A sentence is drawn, and its article taken: so are articles by their length.
        n_pool = 0
        for which in range(2):
            state += golden
            taken = article[_below(_mixed(state), len(article))]
            articles[text, which] = taken
            if which == 1 and taken == articles[text, 0]:
                break
            for sentence in range(firsts[taken], firsts[taken + 1]):
                pool[n_pool] = sentence
                n_pool += 1
        state += golden
        wanted = SHORTEST + _below(_mixed(state), LONGEST - SHORTEST)
        size = 0
        digest = golden
        while size < wanted and n_pool > 0:
            state += golden
            place = _below(_mixed(state), n_pool)
            sentence = pool[place]
            n_pool -= 1
            pool[place] = pool[n_pool]
            chosen[n_chosen] = sentence
            n_chosen += 1
            size += starts[sentence + 1] - starts[sentence]
            digest = _mixed(digest + np.uint64(sentence))
        ends[text] = n_chosen
        sizes[text] = size - 1  # without the last blank
        digests[text] = digest


@njit
def _gather(data: Any, starts: Any, chosen: Any, ends: Any, offsets: Any, texts: Any) -> None:
    """Copy the chosen sentences of each text to where it begins in `texts`, by its offset."""
    begin = 0
    for text in range(len(ends)):
        at = offsets[text]
        for number in range(begin, ends[text]):
            sentence = chosen[number]
            # The last blank of a text is left out.
            size = min(starts[sentence + 1] - starts[sentence], offsets[text + 1] - at)
            texts[at : at + size] = data[starts[sentence] : starts[sentence] + size]
            at += size
        begin = ends[text]


def drawn(
    sentences: Sentences, first: int, n: int, seed: int
) -> tuple[pyarrow.Table, NDArray[np.uint64]]:
    """(the texts from number ``first`` on, (n,) a hash of the sentences of each)."""
    import pyarrow

    shortest, _ = SENTENCE
    chosen = np.empty(n * (LONGEST // shortest + 1), np.int64)
    ends = np.empty(n, np.int64)
    articles = np.empty((n, 2), np.int64)
    sizes = np.empty(n, np.int64)
    digests = np.empty(n, np.uint64)
    _draw(
        sentences.starts,
        sentences.firsts,
        sentences.article,
        first,
        seed,
        chosen,
        ends,
        articles,
        sizes,
        digests,
    )
    offsets = np.zeros(n + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    texts = np.empty(offsets[-1], np.uint8)
    _gather(sentences.data, sentences.starts, chosen, ends, offsets, texts)
    numbers = np.arange(first + 1, first + n + 1)
    titles = [
        f"{sentences.titles[article]} {number}"
        for number, article in zip(numbers.tolist(), articles[:, 0].tolist(), strict=True)
    ]
    buffers = (pyarrow.py_buffer(offsets), pyarrow.py_buffer(texts))
    table = pyarrow.table(
        {
            "id": numbers,
            "title": titles,
            "url": [f"https://wiki.example/?curid={number}" for number in numbers.tolist()],
            "text": pyarrow.StringArray.from_buffers(n, *buffers),
        }
    )
    return table, digests


@dataclass(frozen=True)
class Made:
    """What was written."""

    texts: int
    text_bytes: int
    stored_bytes: int
    """On the disk, of all columns."""
    distinct: int
    """How many of the texts differ."""


def write(
    folder: Path,
    sentences: Sentences,
    n_texts: int = TEXTS,
    *,
    files: int = FILES,
    rows: int = ROWS,
    seed: int = SEED,
) -> Iterator[Made]:
    """Write the texts; yields what has been written so far, after each row group."""
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    digests = np.empty(n_texts, np.uint64)
    text_bytes = 0
    stored_bytes = 0
    bounds = np.linspace(0, n_texts, files + 1).astype(int).tolist()
    for number, (start, stop) in enumerate(pairwise(bounds)):
        path = folder / f"texts-{number:05}-of-{files:05}.parquet"
        draft = path.with_suffix(".part")
        writer = None
        for first in range(start, stop, rows):
            n = min(rows, stop - first)
            table, digests[first : first + n] = drawn(sentences, first, n, seed)
            text_bytes += int(table["text"].chunk(0).buffers()[2].size)
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(
                    draft, table.schema, compression="zstd", compression_level=LEVEL
                )
            writer.write_table(table, row_group_size=rows)
            yield Made(first + n, text_bytes, stored_bytes + draft.stat().st_size, 0)
        if writer is not None:
            writer.close()
            draft.replace(path)
            stored_bytes += path.stat().st_size
    yield Made(n_texts, text_bytes, stored_bytes, len(np.unique(digests)))


def check(folder: Path) -> tuple[float, list[str]]:
    """(the share of stop words in the first texts of each file, the beginnings of some).

    Raises ValueError if this is not the English that it was made from.
    """
    import pyarrow.parquet

    words: list[str] = []
    beginnings: list[str] = []
    for path in sorted(folder.glob("*.parquet")):
        batches = pyarrow.parquet.ParquetFile(path).iter_batches(100, columns=["text"])
        for text in next(batches)["text"].to_pylist():
            words += re.findall("[a-z]+", text.lower())
        beginnings.append(text[:70])
    stop_words = sum(word in ENGLISH_STOP_WORDS for word in words)
    share = stop_words / max(1, len(words))
    least, most = ENGLISH
    if not least < share < most:
        raise ValueError(f"{share:.2f} of the words are stop words: no English")
    return share, beginnings


def articles_in(path: Path) -> Iterator[dict[str, str]]:
    """The articles of a file of JSON lines, which may be compressed by xz."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ready_texts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--texts", type=int, default=TEXTS, metavar="N", help="(default: 7,200,000)"
    )
    parser.add_argument("--files", type=int, default=FILES, metavar="N", help=f"(default: {FILES})")
    parser.add_argument(
        "--rows", type=int, default=ROWS, metavar="N", help="of a row group (default: 10,000)"
    )
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"(default: {SEED})")
    parser.add_argument(
        "--articles",
        type=Path,
        metavar="FILE",
        help="JSON lines with `title` and `text` to draw from (default: articles-60k)",
    )
    options = parser.parse_args()
    READY.mkdir(parents=True, exist_ok=True)
    if any(READY.iterdir()):
        sys.exit(f"{READY} is not empty: remove what is there")
    free = shutil.disk_usage(READY).free
    needed = options.texts * STORED
    print(f"{needed / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free", file=sys.stderr)
    if needed > free:
        sys.exit(f"the disk has room for --texts {free // STORED:,}")
    try:
        source = real_articles() if options.articles is None else articles_in(options.articles)
        sentences = sentences_of(source)
    except Unavailable as error:
        sys.exit(f"{error}: name a file by --articles")
    print(
        f"{len(sentences.article):,} sentences of {len(sentences.titles):,} articles",
        file=sys.stderr,
    )
    begun = time.monotonic()
    shown = begun
    for made in write(
        READY,
        sentences,
        options.texts,
        files=options.files,
        rows=options.rows,
        seed=options.seed,
    ):
        now = time.monotonic()
        if now - shown > 5:
            shown = now
            print(
                f"{made.texts:,} texts, {made.text_bytes / 1e9:.1f} GB, {now - begun:.0f} s",
                file=sys.stderr,
            )
    share, beginnings = check(READY)
    smaller = made.text_bytes / made.stored_bytes
    print(
        f"{made.texts:,} texts, {made.distinct:,} different ones, in "
        f"{time.monotonic() - begun:.0f} s\n"
        f"{made.text_bytes / 1e9:.2f} GB of text, {made.text_bytes / made.texts:,.0f} bytes each, "
        f"{share:.0%} of the words are stop words\n"
        f"{made.stored_bytes / 1e9:.2f} GB on disk: {smaller:.2f} times less"
    )
    for beginning in beginnings:
        print(f"  {beginning} …")


if __name__ == "__main__":
    main()
