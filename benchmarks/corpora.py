"""The documents that the models are measured on: real Wikipedia articles as word counts, not in the
repository."""

import functools
import json
import lzma
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import CompletionSet, Minibatch
from wikitopics.vocab import Vocabulary

CORPUS = Path(os.environ.get("WIKITOPICS_SHARED", Path(__file__).parents[1] / ".." / "shared")) / "corpus"


def _load(name: str) -> Minibatch:
    with np.load(CORPUS / name) as file:
        return Minibatch(file["indptr"], file["word_ids"], file["counts"])


@functools.cache
def words() -> list[str]:
    return (CORPUS / "dictnostops.txt").read_text(encoding="utf-8").split()


@functools.cache
def stream() -> Minibatch:
    """149,549 articles of some 103 words."""
    return _load("bow-stream-150k.npz")


def full_length() -> Minibatch:
    """60,449 articles of some 380 words."""
    return _load("bow-long-60k.npz")


def held_out_documents() -> Minibatch:
    """2,197 other articles."""
    return _load("bow-heldout-2k.npz")


@functools.cache
def held_out() -> CompletionSet:
    """The same, split for document completion."""
    return CompletionSet(held_out_documents())


@functools.cache
def articles() -> tuple[int, Minibatch]:
    """The size of the shipped vocabulary, and 48,903 articles of plain text with at least 10 of its words."""
    vocabulary = Vocabulary.load("english")
    with lzma.open(CORPUS / "articles-60k.jsonl.xz", "rt", encoding="utf-8") as lines:
        counted = [vocabulary.count(json.loads(line)["text"]) for line in lines]
    return len(vocabulary), batch_of([(ids, counts) for ids, counts in counted if counts.sum() >= 10])


def batch_of(documents: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Minibatch:
    """Documents given as word ids and their counts."""
    indptr = np.cumsum([0, *(len(ids) for ids, _ in documents)])
    return Minibatch(indptr, *(np.concatenate(part) for part in zip(*documents, strict=True)))
