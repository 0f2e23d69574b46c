"""The texts given to `train` as lines of a file, with titles and ids; the index of a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from wikitopics.crawler.markup.texts import noticing
from wikitopics.crawler.texts.records import LONGEST_ID
from wikitopics.crawler.texts.source import LINES
from wikitopics.session.analysis.proportions import as_kept
from wikitopics.session.errors import Say, SessionError
from wikitopics.session.storage.reader import SessionReader
from wikitopics.stored import cell, check_collection

_END = object()


def labels_of(texts: object, ids: object, path: Path | None) -> Any:
    """The ids as an index of pandas: those given, otherwise the index of the texts; None if they
    are of other types, or if the session at ``path`` was made by 1.1.0, which did not use an index
    as ids."""
    if (pandas := sys.modules.get("pandas")) is None:
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


def kept_index(labels: Any, *, of_ids: bool) -> tuple[dict[str, object] | None, list[str]]:
    """What a session must keep to restore the index of these labels, or None if it cannot, and a
    remark that says why; ``of_ids``: whether the labels are ids that were given."""
    if labels is None:
        return None, []
    if of_ids and labels.hasnans:
        return None, ["ids: some are missing, so tables of documents show numbers instead"]
    subject, index = "ids are" if of_ids else "the index of the texts is", as_kept(labels)
    return index, [] if index else [f"{subject} of a type that can only be kept as text"]


def lines_of_texts(
    arguments: Mapping[str, Any],
    tell: Say,
    *,
    noticed: bool,
    by_id: bool,
) -> Iterator[dict[str, str | None]]:
    """The lines of the file of texts, from the arguments of `train`.

    ``tell``: is told of repeated ids and, if ``noticed``, of markup in the texts. ``by_id``:
    whether the title of a text without one is its id, if it has any.

    Raises ValueError or TypeError, and `SessionError` where the texts are read from files that
    cannot be read.
    """
    columns = {
        name: values for name, values in arguments.items() if name == "texts" or values is not None
    }
    for name, values in columns.items():
        check_collection(name, values)

    def read() -> Iterator[dict[str, str | None]]:
        number = some = repeated = 0
        seen = set[str]()
        try:
            for number, cells in enumerate(zip_longest(*columns.values(), fillvalue=_END), start=1):
                row = dict(zip(columns, cells, strict=True))
                if ended := [name for name, cell in row.items() if cell is _END]:
                    raise ValueError(
                        f"{ended[0]}: only {number - 1:,} of them, fewer than the others"
                    )
                text, title, external_id = (
                    cell(row.get(name)) for name in ("texts", "titles", "ids")
                )
                if text is not None and not isinstance(text, str):
                    raise TypeError(
                        f"texts: number {number - 1} is of type {type(text).__name__}, not a string"
                    )
                some += bool(text and text.strip())
                label = None if external_id is None else str(external_id)
                if label is not None:
                    if len(label.encode(errors="surrogatepass")) > LONGEST_ID:
                        raise ValueError(f"ids: number {number - 1} is over {LONGEST_ID:,} bytes")
                    repeated += label in seen
                    seen.add(label)
                title = label if title is None and by_id and label else title
                yield {
                    "text": text,
                    "title": f"text {number}" if title is None else str(title),
                    "id": label,
                }
        except OSError as error:
            raise SessionError(f"cannot read the texts: {error}") from error
        if not some:
            raise ValueError(f"texts: all {number:,} are empty" if number else "texts is empty")
        if repeated:
            tell(
                f"ids: {repeated:,} of {number:,} repeat an earlier one, so an id no longer tells "
                "which text is which"
            )

    return noticing(read(), lambda document: document["text"] or "", tell) if noticed else read()
