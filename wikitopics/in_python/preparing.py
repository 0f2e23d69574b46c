"""What the trainer of `train` is given: texts, words and seeds in files, and the request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from wikitopics.crawler.file_source import silently
from wikitopics.crawler.texts.kinds import COLUMN, TEXTS
from wikitopics.in_python.request import number_to_hold_out
from wikitopics.in_python.resuming import are_numbered
from wikitopics.in_python.texts import (
    GivenDocuments,
    are_row_numbers,
    ids_to_keep,
    kept_texts,
    lines_of_texts,
    texts_given,
)
from wikitopics.in_python.words import WordChoice, known_words, remarks_on_words, words_built
from wikitopics.session.advance import followed
from wikitopics.session.errors import Say
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.options import HELD_OUT, NO_SNIPPETS
from wikitopics.session.request import TrainRequest, new_settings
from wikitopics.session.settings import Settings
from wikitopics.session.training.vocabulary_texts import file_documents
from wikitopics.stored.progress_bars import following
from wikitopics.vocab import Vocabulary

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task:
    """What the arguments of `train` mean, before the texts have been read."""

    path: Path
    """The session."""
    files: InMemoryTexts
    request: TrainRequest
    """The request so far, without texts and words."""
    documents: GivenDocuments
    labels: Any
    """The result of `labels_of`."""
    choice: WordChoice
    seeds: Mapping[str, Sequence[str]]
    to_hold_out: int | float | None
    """The result of `given_held_out`."""
    replace: bool
    add: bool
    progress: bool


class Prepared(NamedTuple):
    """What is ready for the trainer."""

    request: TrainRequest
    settings: Settings
    """Those of a new session, before its size is known."""
    number: int
    """How many texts there are."""
    words: Vocabulary | None
    """The words to count; None: those of the session."""


def prepared(task: Task, descriptor: int, is_new: bool, tell: Say) -> Prepared:
    """Write the texts, words and seeds to their files, and complete the request.

    ``descriptor``: of the file of texts, which is held; ``is_new``: whether the session does not
    exist, or is to be replaced; ``tell``: is told what the user should know.

    Raises `BadUsage`, `BadSource`, `VocabularyError`, ValueError or TypeError for what is wrong
    with the arguments, and `SessionError`.
    """
    request = _first_request(task, is_new)
    settings, _ = new_settings(request, request.kind())  # raises for a wrong request
    rows = task.documents.rows
    number = _write_texts(task, descriptor, is_new, tell) if rows is None else rows.rows
    adds = task.add and not is_new
    n_held_out = number_to_hold_out(task.to_hold_out, number, adds=adds)
    if n_held_out is not None:
        request = request.giving(held_out=HELD_OUT.convert(n_held_out))
    # What was written to the file of texts has been looked at.
    proses = _proses(task, request, silently if rows is None else tell)
    words = task.choice.vocabulary
    # An existing session has its words. They are chosen again only if an argument says how, to be
    # compared with the session's.
    if words is None and (is_new or task.choice.has_recipe):
        with _followed(proses(), "texts read for the vocabulary", number, task.progress) as taken:
            words = words_built(taken, task.choice.recipe)
        request = request.giving(vocab=task.files.write(task.files.words, words.lines))
    if is_new and words is not None:
        sizes = known_words(words, proses())
        number_to_check = number if task.replace else None
        held_out = request.get(HELD_OUT)
        for remark in remarks_on_words(words, task.seeds, sizes, number_to_check, held_out):
            tell(remark)
    return Prepared(request, settings, number, words)


def _first_request(task: Task, is_new: bool) -> TrainRequest:
    """The request as far as it is known before the texts have been read; writes the words and
    seeds that were given."""
    files = task.files
    request = task.request
    documents = task.documents
    if documents.parts.files is not None:
        paths, names, _ = documents.parts.files
        request = request.giving(
            texts=paths, text_column=names.text, title_column=names.title, id_column=names.id
        )
    words = task.choice.vocabulary
    if words is not None:
        request = request.giving(vocab=files.write(files.words, words.lines))
    if task.seeds:
        request = request.giving(seeds=files.write(files.seeds, [json.dumps(task.seeds)]))
    has_no_snippets = documents.given.kind == "counts"
    if is_new and has_no_snippets:
        request = request.giving(**{NO_SNIPPETS.name: True})
    return request


def _write_texts(task: Task, descriptor: int, is_new: bool, tell: Say) -> int:
    """Write the texts to the descriptor that holds their file; returns their number."""
    documents = task.documents
    parts = documents.parts
    words = task.choice.vocabulary
    columns = {
        "texts": texts_given(documents.given, tell, words, documents.counter),
        "titles": parts.titles,
        "ids": ids_to_keep(parts.ids, task.labels),
    }
    has_own_ids = parts.ids is not None or not are_row_numbers(task.labels)
    lines = lines_of_texts(
        columns,
        tell,
        markup_is_noticed=documents.markup is None and not documents.has_tokens,
        ids_are_titles=has_own_ids and (is_new or not are_numbered(task.path)),
    )
    with _followed(lines, "texts read", 0, task.progress) as taken:
        return task.files.write_texts(descriptor, taken)


def _proses(task: Task, request: TrainRequest, tell: Say) -> Callable[[], Iterator[str]]:
    """A function that reads the texts for the trainer, without markup, as often as it is called."""
    documents = task.documents
    if documents.has_tokens:
        return partial(kept_texts, task.files.texts)

    def proses() -> Iterator[str]:
        read, _ = file_documents(
            request[TEXTS], tell, request.get(COLUMN), markup=documents.markup or "text"
        )
        return read

    return proses


@contextmanager
def _followed(items: Iterable[T], what: str, total: int, wanted: bool) -> Iterator[Iterator[T]]:
    """Yield the items. A progress bar counts those that are taken, if one is wanted; ``what`` and
    ``total`` are as for `Advance`."""
    with following(wanted=wanted) as advance:
        yield followed(items, what, total, advance)
