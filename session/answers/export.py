"""What a session holds, as CSV or JSON rows, or the model as .npz."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from session.records import ArticleRow
from session.storage.files import replacing
from session.storage.reader import SessionReader

Row = dict[str, object]

COLUMNS = {
    "topics": ("model", "topic", "rank", "word", "probability", "share"),
    "history": ("model", "articles", "topic", "rank", "word", "probability"),
    "metrics": ("model", "articles", "tokens", "seconds", "metric", "value"),
    "articles": ("page_id", "title", "revision_id", "words", "model", "topic", "proportion"),
}
HISTORY_WORDS = 10
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def columns(what: str, *, every_role: bool = False) -> tuple[str, ...]:
    """The header of an export."""
    return COLUMNS[what] + (("role",) if what == "articles" and every_role else ())


def rows(reader: SessionReader, what: str, models: list[str], *, every_role: bool = False) -> Iterator[Row]:
    """The rows of an export for these models, in a fixed order."""
    if what == "articles":
        yield from _articles(reader, models, every_role=every_role)
        return
    if what == "metrics":
        for values in reader.all_metrics():
            if values[0] in models:
                yield dict(zip(COLUMNS["metrics"], values, strict=True))
        return
    for model in models:
        yield from _topics(reader, model) if what == "topics" else _history(reader, model)


def _topics(reader: SessionReader, model: str) -> Iterator[Row]:
    for row in reader.topics(model, top=20):
        for rank, (word, probability) in enumerate(row.words, start=1):
            yield {
                "model": model,
                "topic": row.topic,
                "rank": rank,
                "word": word,
                "probability": probability,
                "share": row.share,
            }


def _history(reader: SessionReader, model: str) -> Iterator[Row]:
    for articles in reader.snapshots(model):
        snapshot = reader.snapshot(model, articles)
        for topic, words in enumerate(snapshot.words):
            probabilities = snapshot.probabilities[topic].tolist()
            for rank, word in enumerate(words[:HISTORY_WORDS], start=1):
                yield {
                    "model": model,
                    "articles": articles,
                    "topic": topic,
                    "rank": rank,
                    "word": word,
                    "probability": probabilities[rank - 1],
                }


def _articles(reader: SessionReader, models: list[str], *, every_role: bool) -> Iterator[Row]:
    for article in reader.all_articles(trained_only=not every_role):
        common: Row = {
            "page_id": article.page_id,
            "title": article.title,
            "revision_id": article.revision_id,
            "words": article.words,
        }
        for model, topic, proportion in _of_models(article, models):
            row = common | {"model": model, "topic": topic, "proportion": proportion}
            yield row | {"role": article.role} if every_role else row


def _of_models(
    article: ArticleRow, models: list[str]
) -> Iterable[tuple[str | None, int | None, float | None]]:
    if not article.topics:
        return [(None, None, None)]
    return [one for one in article.topics if one[0] in models]


def write_csv(
    header: tuple[str, ...],
    lines: Iterable[Row],
    write: Callable[[str], object],
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write a header and rows; returns the number of rows.

    Text that a spreadsheet would take for a formula gets a ``'`` before it.
    """
    write(_csv_line(header))
    count = 0
    for count, row in enumerate(lines, start=1):
        write(_csv_line([_harmless(row[name]) for name in header]))
        if progress is not None and count % 1000 == 0:
            progress(count)
    return count


def write_json(
    lines: Iterable[Row], write: Callable[[str], object], progress: Callable[[int], None] | None = None
) -> int:
    """Write one array of objects, an object a line; returns their number."""
    write("[")
    count = 0
    for count, row in enumerate(lines, start=1):
        write("\n" if count == 1 else ",\n")
        write(json.dumps(row, ensure_ascii=False))
        if progress is not None and count % 1000 == 0:
            progress(count)
    write("\n]\n" if count else "]\n")
    return count


def model_npz(reader: SessionReader, name: str) -> bytes:
    """The model as .npz: topic_word (K, W), alpha (K,), vocabulary (W,), topic_share (K,)."""
    from session.answers.inference import saved_model

    model: Any = saved_model(reader, name)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        topic_word=model.topics(),
        alpha=model.document_prior(),
        vocabulary=np.array(reader.vocabulary(), dtype=np.str_),
        topic_share=model.topic_shares(),
    )
    return buffer.getvalue()


def export_file(
    reader: SessionReader,
    what: str,
    form: str,
    path: Path,
    *,
    model: str | None = None,
    every_role: bool = False,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write an export to a file, whole or not at all; returns the number of rows (0 for a model)."""
    models = reader.models() if model is None else [model]
    with replacing(path) as file:
        if form == "npz":
            file.write(model_npz(reader, models[0]))
            return 0

        def write(text: str) -> None:
            file.write(text.encode("utf-8", "backslashreplace"))

        lines = rows(reader, what, models, every_role=every_role)
        if form == "csv":
            return write_csv(columns(what, every_role=every_role), lines, write, progress)
        return write_json(lines, write, progress)


class _AsIs:
    """Gives back what it is told to write."""

    def write(self, text: str) -> str:
        return text


_CSV = csv.writer(_AsIs())


def _csv_line(values: Iterable[object]) -> str:
    # Python's writer quotes a carriage return only where it ends lines with one.
    return str(_CSV.writerow(values)).removesuffix("\r\n") + "\n"


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return "" if value is None else value
