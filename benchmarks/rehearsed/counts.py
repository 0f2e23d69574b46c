"""A file of word counts of as many articles as are asked for, made of real ones and written piece
by piece."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import split
from wikitopics.model import Minibatch

MODELS = ("lda", "hdp", "scvb0")
HELD_OUT = 1_000
"""The first articles, which a session holds out. They are of the `report` part, of which no other
article is made."""
_PIECE = 20_000
"""Articles that are in memory at one time."""


def resampled_command(folder: Path, articles: int) -> list[str]:
    """The command that trains three kinds of models on so many articles; the articles are written
    first, unless they are there."""
    counts = folder / "counts.npz"
    words = folder / "words.txt"
    if not counts.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words.write_text("\n".join(split("short").words), "utf-8")
        write_resampled(articles, counts)
    command = ["train", "--source", "counts", "--counts", str(counts), "--threads", "2"]
    command += ["--vocab", str(words)]
    for model in MODELS:
        command += ["--model", model]
    return command


def write_resampled(articles: int, path: Path) -> None:
    """Write ``articles`` to train on behind those to hold out: real ones drawn with replacement,
    each word's count drawn anew around the real one."""
    draft = path.with_suffix(".part")
    lengths = np.concatenate([np.diff(piece.indptr) for piece in _pieces(articles)])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    n_words = np.int64(split("short").n_words)
    entries = (int(indptr[-1]),)
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
        word_ids = (piece.word_ids.astype(np.uint16) for piece in _pieces(articles))
        _write(archive, "word_ids", entries, np.uint16, word_ids)
        counts = (piece.counts.astype(np.uint16) for piece in _pieces(articles))
        _write(archive, "counts", entries, np.uint16, counts)
        _write(archive, "indptr", indptr.shape, np.int64, iter([indptr]))
        _write(archive, "n_words", (), np.int64, iter([n_words]))
    draft.replace(path)


def _pieces(articles: int) -> Iterator[Minibatch]:
    """The articles, piece by piece; they are drawn again for each array, always the same."""
    short = split("short")
    yield short.report.take(np.arange(HELD_OUT) % short.report.D)
    real = short.train
    rng = np.random.default_rng(0)
    for start in range(0, articles, _PIECE):
        size = min(_PIECE, articles - start)
        drawn = real.take(rng.integers(0, real.D, size))
        counts = np.maximum(1, rng.poisson(drawn.counts))
        yield Minibatch(drawn.indptr, drawn.word_ids, counts)


def _write(
    archive: zipfile.ZipFile,
    name: str,
    shape: tuple[int, ...],
    dtype: type[np.generic],
    parts: Iterator[Any],
) -> None:
    """One array, as numpy.savez writes it."""
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(part.tobytes())
