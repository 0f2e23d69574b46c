"""The texts given to `train` as lines of a file, with titles and ids; the index of a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikitopics.crawler.markup.undeclared import noticing
from wikitopics.crawler.page import Markup, Page
from wikitopics.crawler.texts.documents import TextFiles
from wikitopics.crawler.texts.kinds import LINES
from wikitopics.crawler.texts.records import LONGEST_ID
from wikitopics.in_python.resuming import counter_of_tokens
from wikitopics.session.analysis.frames import as_kept
from wikitopics.session.errors import Say, SessionError
from wikitopics.session.storage.reader import SessionReader
from wikitopics.stored.arguments import cell, check_collection
from wikitopics.stored.columns import DocumentParts, parts_of
from wikitopics.stored.given import Given
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import token_lines

if TYPE_CHECKING:
    from wikitopics.crawler.texts.parquet import ParquetRows
    from wikitopics.stored.given import Documents

_END = object()
"""Stands for the values that a column lacks at its end."""


@dataclass(frozen=True, slots=True)
class GivenDocuments:
    """The documents that `train` was given, before they have been read."""

    parts: DocumentParts
    given: Given
    """The texts of the parts."""
    markup: Markup | None
    counter: Vocabulary | None
    """The vocabulary of an existing session that counts tokens; it splits texts."""

    @property
    def has_tokens(self) -> bool:
        """Whether the trainer is given tokens or counts."""
        return self.given.kind != "texts" or self.counter is not None

    @property
    def rows(self) -> ParquetRows | None:
        """The texts, if they are in Parquet files."""
        return None if self.parts.files is None else self.parts.files.rows


def given_documents(
    texts: Documents,
    text_column: str | None,
    titles: Iterable[object] | str | None,
    ids: Iterable[object] | str | None,
    markup: Markup | None,
    path: Path | None,
) -> GivenDocuments:
    """The documents that arguments of `train` mean. ``path``: the session, which need not exist;
    None: a new one.

    Raises ValueError or TypeError, and `SessionError` for files that cannot be read, and for a
    session that counts other things.
    """
    try:
        parts = parts_of("texts", texts, text_column, titles, ids)
        given = Given("texts", parts.texts)  # looks at the first texts
    except OSError as error:
        raise _unreadable(error) from error
    counter = None if path is None else counter_of_tokens(path, given)
    documents = GivenDocuments(parts, given, markup, counter)
    if documents.has_tokens and markup not in (None, "text"):
        raise ValueError("markup: tokens and counts have none; leave it out")
    return documents


def _unreadable(error: OSError) -> SessionError:
    """The error for texts that come from files that cannot be read."""
    return SessionError(f"cannot read the texts: {error}")


def labels_of(texts: object, ids: object, path: Path | None) -> Any:
    """The ids as an index of pandas: the ids given, otherwise the index of the texts. None if the
    ids, or without ids the texts, are not in an object of pandas. Also None without ids if the
    session at ``path`` was made by 1.1.0, which did not use an index as ids."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if isinstance(ids, pandas.Series | pandas.Index):
        return pandas.Index(ids)
    if ids is not None or not isinstance(texts, pandas.Series):
        return None
    if path is not None and os.path.exists(path):
        with SessionReader(path) as reader:
            if LINES.name not in reader.settings().source_options:
                return None
    return texts.index


def are_row_numbers(labels: Any) -> bool:
    """Whether pandas has numbered the rows from 0, since the table has no index of its own."""
    return getattr(labels, "start", None) == 0 and getattr(labels, "step", None) == 1


def kept_index(labels: Any, *, of_ids: bool) -> tuple[dict[str, object] | None, list[str]]:
    """What a session must keep to restore the index of these labels, and remarks for the user.
    None if there are no labels, or if that is impossible; then, one remark says why.

    ``of_ids``: whether the labels are ids that were given.
    """
    if labels is None:
        return None, []
    if of_ids and labels.hasnans:
        return None, ["ids: some are missing, so tables of documents show numbers instead"]
    index = as_kept(labels)
    if index:
        return index, []
    subject = "ids are" if of_ids else "the index of the texts is"
    return index, [f"{subject} of a type that can only be kept as text"]


def ids_to_keep(ids: Iterable[object] | None, labels: Any) -> Iterable[object] | None:
    """The ids that were given, otherwise the index of the texts; None without either.

    ``labels``: the result of `labels_of`.
    """
    if ids is None and labels is not None:
        return map(str, labels)  # a missing label becomes text, too, such as "nan"
    return ids


def texts_given(
    given: Given, tell: Say, words: Vocabulary | None, counter: Vocabulary | None
) -> Iterator[str | None]:
    """What stands for each document in the file of texts: a text, or tokens one a line; None for
    None and NaN.

    ``tell``: is told at the end of tokens that were left out. ``words``: those that the columns of
    counts are for. ``counter``: the vocabulary of an existing session that counts tokens; it splits
    texts.

    Raises ValueError or TypeError for documents of different kinds.
    """
    if given.kind == "counts":
        assert words is not None
        for ids, counts in given.counts(len(words)):
            pairs = zip(ids.tolist(), counts.tolist(), strict=True)
            yield token_lines({words.words[id]: count for id, count in pairs})
    elif given.kind == "tokens":
        for tokens in given.tokens():
            yield None if tokens is None else token_lines(tokens)
        if given.left_out:
            tell(
                "texts: tokens with characters that cannot be shown in a line are left out "
                f"({given.left_out:,})"
            )
    elif counter is not None:
        for text in given.texts():
            yield None if text is None else token_lines(counter.split(text))
    else:
        yield from given.texts()


def kept_texts(path: Path) -> Iterator[str]:
    """The texts in the file, without those of None, NaN, and what is empty."""
    for page, _ in TextFiles([str(path)], by_id=False).first_reading():
        if isinstance(page, Page):
            yield page.text


def lines_of_texts(
    arguments: Mapping[str, Any],
    tell: Say,
    *,
    markup_is_noticed: bool,
    ids_are_titles: bool,
) -> Iterator[dict[str, str | None]]:
    """The lines of the file of texts, from the arguments of `train`; the texts are those of
    `texts_given`.

    ``tell``: is told of repeated ids and, if ``markup_is_noticed``, of markup in the texts.
    ``ids_are_titles``: whether a text without a title is called by its id, if it has one.

    Raises ValueError or TypeError, and `SessionError` where the texts are read from files that
    cannot be read.
    """
    columns = {"texts": arguments["texts"]}
    for name in ("titles", "ids"):
        if arguments[name] is not None:
            check_collection(name, arguments[name])
            columns[name] = arguments[name]

    def read() -> Iterator[dict[str, str | None]]:
        number = 0
        with_text = 0
        repeated = 0
        seen = set[str]()
        try:
            for number, cells in enumerate(zip_longest(*columns.values(), fillvalue=_END), start=1):
                row = dict(zip(columns, cells, strict=True))
                ended = [name for name, value in row.items() if value is _END]
                if ended:
                    raise ValueError(
                        f"{ended[0]}: only {number - 1:,} of them, fewer than the others"
                    )
                text = row["texts"]
                title = cell(row.get("titles"))
                label = _label_in(row.get("ids"), number)
                if text and text.strip():
                    with_text += 1
                if label is not None:
                    if label in seen:
                        repeated += 1
                    seen.add(label)
                if title is not None:
                    called = str(title)
                elif ids_are_titles and label:
                    called = label
                else:
                    called = f"text {number}"
                yield {"text": text, "title": called, "id": label}
        except OSError as error:
            raise _unreadable(error) from error
        if not number:
            raise ValueError("texts is empty")
        if not with_text:
            raise ValueError(f"texts: all {number:,} are empty")
        if repeated:
            tell(
                f"ids: {repeated:,} of {number:,} repeat an earlier one, so an id no longer tells "
                "which text is which"
            )

    if not markup_is_noticed:
        return read()
    return noticing(read(), lambda document: document["text"] or "", tell)


def _label_in(value: object, number: int) -> str | None:
    """The id in a cell of the text of this number, from 1; None for a cell without one. Raises
    ValueError for an id that is too long."""
    external_id = cell(value)
    if external_id is None:
        return None
    label = str(external_id)
    if len(label.encode(errors="surrogatepass")) > LONGEST_ID:
        raise ValueError(f"ids: number {number - 1} is over {LONGEST_ID:,} bytes")
    return label
