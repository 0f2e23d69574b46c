"""The articles that experiments learn from and are scored on: none that chose a default reports a
figure.

    python -m benchmarks.data                             make the corpora, and say what is in them
    python -m benchmarks.data enwiki-….xml.bz2            make them from a dump
    python -m benchmarks.data dewiki-….xml.bz2 --lang de --articles 60000

| corpus | from | counted over | documents of |
|---|---|---|---|
| `short` | bow-stream-150k.npz | the 7,702 words of [H10] | 103 words |
| `long` | articles-60k.jsonl.xz, of at least 150 counted words | the shipped one | 377 words |
| `full` | bow-long-60k.npz, of full length, as in a crawl | the words of [H10] | 380 words |

| part | documents | for |
|---|---|---|
| `train` | all that are in neither set below | learning, whatever is being found out |
| `tuning` | what scored when earlier defaults were chosen, and more | choosing defaults |
| `report` | 4,000 short, 1,500 long, 2,000 full, never scored before | the docs' figures |

The published figures are of these three files, which are not in the repository. Corpora can be made
from any dump that `wikitopics train` reads: `short` are its articles with fewer than 150 counted
words, `long` the others, `full` all of them; a tenth of each, at most as many as above, is for
`tuning` and another for `report`. Two people who give the same dump and options get the same
corpora. Without files or dump, they are made in the same way from the 20,000 articles that come
with the program.

A document's part follows from a hash of its place in the corpus (short, full), of its page id
(long, dumps) or of its title (the articles that come with the program), so that it is the same on
every machine. What was made is kept outside the repository, in `benchmarks/data/corpora.npz`;
remove it to go back. Words that were chosen for another language are in `corpora.txt` beside it.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

import wikitopics
from benchmarks.harness import FOLDER, Unavailable
from wikitopics.crawler.embedded.corpus import load_sample
from wikitopics.model import Minibatch
from wikitopics.vocab import Vocabulary

SHARED = Path(os.environ.get("WIKITOPICS_SHARED", Path(__file__).parents[2] / "shared")) / "corpus"
Corpus = Literal["short", "long", "full"]
CORPORA: tuple[Corpus, ...] = get_args(Corpus)
PARTS = ("train", "tuning", "report")
ARRAYS = ("indptr", "word_ids", "counts")
REPORTED = {"short": 4_000, "long": 1_500, "full": 2_000}
TUNING_LONG = 750
TUNING_FULL = 2_000
LONG = 150
"""Counted words from which an article of plain text is a long one."""
SCORED_BEFORE = 500
"""So many articles scored earlier choices: the first in the file that have at least
`SCORED_BEFORE_LENGTH` words of [H10]'s list."""
SCORED_BEFORE_LENGTH = 165
MADE = FOLDER / "corpora.npz"
PUBLISHED = "the corpora of the published figures"
SAMPLE = "the 20,000 articles that come with the program"


def shared(name: str) -> Path:
    """A file of real articles, which are not in the repository. Raises `Unavailable` where it is
    not."""
    if not (SHARED / name).exists():
        raise Unavailable(f"{name} is not in {SHARED}")
    return SHARED / name


@functools.cache
def labelled(name: str) -> tuple[list[str], list[list[str]]]:
    """The words of a set of labelled texts, and its rows: the text, its part and its label."""
    folder = shared(f"labelled/{name}")
    words = (folder / "vocabulary.txt").read_text("utf-8").split()
    lines = (folder / "corpus.tsv").read_text("utf-8").splitlines()
    return words, [line.split("\t") for line in lines]


def vocabulary_of_2010() -> list[str]:
    """The words of [H10]."""
    return shared("dictnostops.txt").read_text(encoding="utf-8").split()


def articles(name: str = "articles-60k.jsonl.xz") -> Iterator[dict[str, str]]:
    """The articles of a file, each with its id, title and text."""
    with lzma.open(shared(name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _load(name: str) -> Minibatch:
    with np.load(shared(name)) as file:
        return Minibatch(file["indptr"], file["word_ids"], file["counts"])


def batch_of(documents: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Minibatch:
    """Documents given as word ids and their counts."""
    lengths = [len(ids) for ids, _ in documents]
    indptr = np.cumsum([0, *lengths])
    word_ids = np.concatenate([ids for ids, _ in documents])
    counts = np.concatenate([counts for _, counts in documents])
    return Minibatch(indptr, word_ids, counts)


def batch_of_words(documents: Sequence[NDArray[np.int32]]) -> Minibatch:
    """Documents given as word ids, each as often as it occurs."""
    return batch_of([np.unique(words, return_counts=True) for words in documents])


class Split(NamedTuple):
    """One corpus in its three parts, over these words."""

    words: list[str]
    train: Minibatch
    tuning: Minibatch
    report: Minibatch

    @property
    def n_words(self) -> int:
        return len(self.words)


def sample() -> tuple[list[str], Minibatch]:
    """The words and the articles that come with the program."""
    found = load_sample()
    return list(found.words), Minibatch(found.indptr, found.word_ids, found.counts)


@functools.cache
def split(corpus: Corpus) -> Split:
    """A corpus in its parts. Raises `Unavailable` if there are too few such articles to divide.

    Read once in a process: otherwise whoever asks for a part while a clock runs would measure the
    disk.
    """
    if origin() == SAMPLE:
        words, documents = sample()
        made = _divided(corpus, words, documents, load_sample().titles)
    else:
        if not MADE.exists():
            _keep({"short": _short(), "long": _long(), "full": _full()}, PUBLISHED)
        made = _kept(corpus)
    if not made.report.D:
        raise Unavailable(f"{origin()} have too few {corpus} ones")
    return made


@functools.cache
def origin() -> str:
    """What the corpora are made of here."""
    if MADE.exists():
        with np.load(MADE) as file:
            return str(file["origin"])
    return PUBLISHED if SHARED.exists() else SAMPLE


def _keep(made: Mapping[str, Split], origin: str) -> None:
    """Write all corpora at once, so that there are never some of one origin and some of another."""
    FOLDER.mkdir(exist_ok=True)
    arrays: dict[str, Any] = {"origin": np.array(origin)}
    for corpus, parts in made.items():
        arrays[f"{corpus}_words"] = np.array(parts.words)
        for part in PARTS:
            documents: Minibatch = getattr(parts, part)
            for name in ARRAYS:
                arrays[f"{corpus}_{part}_{name}"] = getattr(documents, name)
    draft = MADE.with_suffix(".part.npz")
    np.savez_compressed(draft, **arrays)
    draft.replace(MADE)


def _kept(corpus: Corpus) -> Split:
    """What `_keep` has written of a corpus."""
    parts: dict[str, Minibatch] = {}
    with np.load(MADE) as file:
        for part in PARTS:
            arrays = [file[f"{corpus}_{part}_{name}"] for name in ARRAYS]
            parts[part] = Minibatch(*arrays)
        return Split(file[f"{corpus}_words"].tolist(), **parts)


def _divided(corpus: Corpus, words: list[str], documents: Minibatch, names: Sequence[str]) -> Split:
    """Those of the documents that are of this corpus, in its parts, by the hashes of their
    names."""
    lengths = documents.lengths()
    fitting = {"short": lengths < LONG, "long": lengths >= LONG, "full": lengths > 0}
    rows = np.flatnonzero(fitting[corpus])
    # The parts are in the order of the hashes, too: in that of a dump, articles of one kind follow
    # each other.
    rows = rows[_by_hash([names[row] for row in rows.tolist()])]
    size = min(REPORTED[corpus], len(rows) // 10)
    report, tuning, train = np.split(rows, [size, 2 * size])
    return Split(
        words,
        train=documents.take(train),
        tuning=documents.take(tuning),
        report=documents.take(report),
    )


def make_from_dump(
    dumps: Sequence[str],
    articles: int | None,
    lang: str,
    vocabulary: str | None,
) -> None:
    """Make all corpora from the articles of a dump, as a trainer reads and counts them.

    vocabulary: name or file; None: the shipped one for English, or one that is built from the dump
    """
    command = [sys.executable, "-m", "wikitopics", "train", "--session", "dump", "--source", "dump"]
    for dump in dumps:
        command += ["--dump", dump]
    command += ["--lang", lang]
    command += ["--keep-counts", "--keep-articles", "none", "--topics", "2"]
    if articles is not None:
        command += ["--articles", str(articles)]
    if vocabulary is not None:
        command += ["--vocab", vocabulary]
    with TemporaryDirectory() as home:
        # A home of its own has no vocabulary that was built from something else.
        environment = {**os.environ, "WIKITOPICS_HOME": home}
        trained = subprocess.run(command, env=environment, check=False)
        if trained.returncode:
            raise SystemExit(trained.returncode)  # the trainer has said why
        session = wikitopics.open(Path(home, "dump.db"))
        counted = session.vocabulary()
        documents, page_ids = session.counts()
    documents = documents[:articles]
    words = list(counted.words)
    names = [str(page_id) for page_id in page_ids.tolist()]
    made: dict[str, Split] = {
        corpus: _divided(corpus, words, documents, names) for corpus in CORPORA
    }
    if not made["full"].report.D:
        raise SystemExit(f"{documents.D} articles are too few to divide")
    files = ", ".join(Path(dump).name for dump in dumps)
    over = f" over {Path(vocabulary).name}" if vocabulary else ""
    _keep(made, f"{documents.D:,} articles of {files}{over}")
    if vocabulary is None and lang != "en":
        # The trainer has said that `vocab show` knows these words by the language's code, but that
        # was in its own folder.
        listed = MADE.with_suffix(".txt")
        listed.write_text("\n".join(counted.lines) + "\n", encoding="utf-8")
        print(
            f"its folder is gone; to see the words: `wikitopics vocab show {listed}`",
            file=sys.stderr,
        )


def _short() -> Split:
    documents = _load("bow-stream-150k.npz")
    order = _by_hash([f"bow-stream-150k {row}" for row in range(documents.D)])
    report = np.sort(order[: REPORTED["short"]])
    train = np.sort(order[REPORTED["short"] :])
    return Split(
        vocabulary_of_2010(),
        train=documents.take(train),
        tuning=_load("bow-heldout-2k.npz"),
        report=documents.take(report),
    )


def _long() -> Split:
    vocabulary = Vocabulary.load("english")
    of_2010 = set(vocabulary_of_2010())
    ids: list[str] = []
    counted: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    scored: list[bool] = []
    long_of_2010 = 0
    for article in articles():
        text = article["text"]
        words_of_2010 = [word for word in re.findall("[a-z]+", text.lower()) if word in of_2010]
        scored_before = False
        if len(words_of_2010) >= SCORED_BEFORE_LENGTH:
            scored_before = long_of_2010 < SCORED_BEFORE
            long_of_2010 += 1
        word_ids, counts = vocabulary.count(text)
        if counts.sum() >= LONG:
            ids.append(str(article["id"]))
            counted.append((word_ids, counts))
            scored.append(scored_before)
    fresh = [int(row) for row in _by_hash(ids) if not scored[row]]
    report = fresh[: REPORTED["long"]]
    rest = [row for row in range(len(ids)) if scored[row]]
    rest += fresh[REPORTED["long"] :]
    tuning = rest[:TUNING_LONG]
    train = rest[TUNING_LONG:]

    def part(rows: list[int]) -> Minibatch:
        return batch_of([counted[row] for row in sorted(rows)])

    return Split(
        list(vocabulary.words),
        train=part(train),
        tuning=part(tuning),
        report=part(report),
    )


def _full() -> Split:
    documents = _load("bow-long-60k.npz")
    order = _by_hash([f"bow-long-60k {row}" for row in range(documents.D)])
    ends = np.cumsum([REPORTED["full"], TUNING_FULL])
    report, tuning, train = np.split(order, ends)
    return Split(
        vocabulary_of_2010(),
        train=documents.take(np.sort(train)),
        tuning=documents.take(np.sort(tuning)),
        report=documents.take(np.sort(report)),
    )


def _by_hash(names: Sequence[str]) -> NDArray[np.int64]:
    """Places in `names`, ordered by the names' hashes."""
    digests = [hashlib.sha256(name.encode()).digest() for name in names]
    return np.array(sorted(range(len(names)), key=digests.__getitem__), np.int64)


def main() -> None:
    """Make all corpora and say what is in them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("dump", nargs="*", metavar="DUMP", help="files or addresses of an XML dump")
    parser.add_argument("--articles", type=int, metavar="N", help="read so many (default: all)")
    parser.add_argument(
        "--lang",
        default="en",
        metavar="CODE",
        help="the dump's language (default: en)",
    )
    parser.add_argument(
        "--vocab", metavar="NAME|FILE", help="count these words, as `wikitopics train` does"
    )
    options = parser.parse_args()
    about_a_dump = (options.articles, options.lang, options.vocab)
    if not options.dump and about_a_dump != (None, "en", None):
        parser.error("--articles, --lang and --vocab need a DUMP")
    print(f"making {MADE} …", file=sys.stderr)
    if options.dump:
        make_from_dump(options.dump, options.articles, options.lang, options.vocab)
    print(f"from {origin()}:")
    for corpus in CORPORA:
        try:
            made = split(corpus)
        except Unavailable as error:
            print(f"{corpus:6} {error}")
            continue
        for part in PARTS:
            batch = getattr(made, part)
            words = batch.n_tokens / batch.D
            print(f"{corpus:6} {part:7} {batch.D:8,} documents of {words:6.1f} words")


if __name__ == "__main__":
    main()
