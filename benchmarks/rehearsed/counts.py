"""As many articles as are asked for, made of real ones: a file of word counts, written piece by
piece."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import in_order, split
from wikitopics.model import Minibatch

MODELS = ("lda", "hdp", "scvb0")
HELD_OUT = 1_000
"""The first articles, which a session holds out, are of the `report` part: no other is made of
them."""
_PIECE = 20_000


def counts_command(folder: Path, articles: int) -> list[str]:
    """How to train three kinds of models on so many articles, which this writes unless they are
    there."""
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
    """``articles`` to train on behind those to hold out: real ones drawn with replacement, each
    word's count drawn anew around the real one."""
    draft = path.with_suffix(".part")
    arrays: dict[str, tuple[type[np.generic], Callable[[Minibatch], Any]]] = {
        "word_ids": (np.uint16, lambda piece: piece.word_ids),
        "counts": (np.uint16, lambda piece: piece.counts),
    }
    lengths = np.concatenate([np.diff(piece.indptr) for piece in _pieces(articles)])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
        for name, (dtype, column) in arrays.items():
            numbers = (column(piece).astype(dtype) for piece in _pieces(articles))
            _write(archive, name, (int(indptr[-1]),), dtype, numbers)
        _write(archive, "indptr", indptr.shape, np.int64, iter([indptr]))
        _write(archive, "n_words", (), np.int64, iter([np.int64(split("short").n_words)]))
    draft.replace(path)


def _pieces(articles: int) -> Iterator[Minibatch]:
    """The articles, a piece at a time: the same ones whenever they are asked for."""
    short = split("short")
    yield in_order(short.report, np.arange(HELD_OUT) % short.report.D)
    real = short.train
    rng = np.random.default_rng(0)
    for start in range(0, articles, _PIECE):
        drawn = in_order(real, rng.integers(0, real.D, min(_PIECE, articles - start)))
        yield Minibatch(drawn.indptr, drawn.word_ids, np.maximum(1, rng.poisson(drawn.counts)))


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
