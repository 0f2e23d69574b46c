"""The formats of exports: how rows, arrays or a model are written. Importing this loads no numpy.

The command, its help and the screen's dialog are made from `FORMATS` and the `SUBJECTS` of `tables`.
"""

import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.session.analysis.tables import TYPES, Batch, ExportRequest, Subject, underscored
from wikitopics.session.errors import BadUsage
from wikitopics.session.sources import INTEROP, PARQUET

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from gensim.models import LdaModel


# The model as gensim's own LdaModel, written by gensim.
#
# | in gensim | is |
# |---|---|
# | lambda (K, W) | `topics` times `topic_weights`: pseudo-counts; for SCVB0 those expected, plus the prior |
# | alpha (K,) | `document_prior`; for the HDP alpha times the expected sticks |
# | eta | the smallest lambda: no model's prior is larger |
# | num_updates, numdocs | articles trained, and in the corpus: gensim's `update` continues in small steps |
#
# Learning rates, snapshots and the HDP's two levels have no place in it.

STEM = "model"
_ITERATIONS = 8
"""Iterations of gensim's inference. More would fit the words seen but not the unseen ones."""


def write_gensim(subject: Subject, asked: ExportRequest, path: Path) -> None:
    """Write a folder with the files of ``LdaModel.save``, for ``LdaModel.load("FOLDER/model")``."""
    from wikitopics.session.storage.files import replacing_folder

    with replacing_folder(path, STEM) as folder:
        _lda_model(subject, asked).save(str(folder / STEM))


def _lda_model(subject: Subject, asked: ExportRequest) -> "LdaModel":
    import numpy as np

    try:
        from gensim.corpora import Dictionary
        from gensim.models import LdaModel
    except ModuleNotFoundError:
        raise BadUsage(INTEROP.needed("--format gensim")) from None
    assert subject.model is not None
    with asked.reader.one_moment():
        learnt, words = subject.model(asked), asked.reader.vocabulary()
        trained = asked.reader.progress().articles
    lambda_ = learnt.topics().astype(np.float64)
    lambda_ *= learnt.topic_weights()[:, None]
    eta = float(lambda_.min())
    dictionary = Dictionary()
    dictionary.token2id = {word: number for number, word in enumerate(underscored(words))}
    found = LdaModel(
        id2word=dictionary,
        num_topics=learnt.n_topics,
        alpha=learnt.document_prior(),
        eta=eta,
        iterations=_ITERATIONS,
        dtype=np.float64,  # in float32, gensim's smallest word probability is 1e-7
        random_state=0,
    )
    found.state.sstats = lambda_ - eta
    found.state.numdocs = learnt.n_documents
    found.num_updates = trained
    found.sync_state()
    return found


# The formats.

GROUP = 50_000
"""Rows of a Parquet file that are written together."""
_FORMULA = tuple("=+-@＝＋－＠\t\r\n")  # Chinese and Japanese spreadsheets accept the wide signs too
_JSON = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Format:
    """One export format: a stream of bytes, or several files in a folder of their own."""

    name: str
    """Its name for `--format`."""
    label: str
    """Its name for people."""
    _: KW_ONLY
    ending: str
    """The ending of its file's name."""
    stream: Callable[[Subject, ExportRequest], Iterator[bytes]] | None = None
    """The pieces of the stream; text is UTF-8."""
    folder: Callable[[Subject, ExportRequest, Path], None] | None = None
    """Writes the files of a format that is no stream."""
    binary: bool = False
    """Whether it cannot be shown on a terminal."""
    bom: bool = False
    """Whether it may begin with a byte order mark."""


def _table(delimiter: str, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
    """A header and rows; text that a spreadsheet would take for a formula gets a ``'`` before it."""
    assert subject.batches is not None
    batches, special = subject.batches(asked), re.compile(f'[{delimiter}"\\r\\n]')

    def field(value: object) -> str:
        """The value as in RFC 4180, and so that no spreadsheet evaluates it."""
        if not isinstance(value, str):
            return "" if value is None else repr(value)
        text = "'" + value if value.startswith(_FORMULA) else value
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    fields = partial(map, field)
    yield (BOM_UTF8 if asked.bom else b"") + _utf8(delimiter.join(fields(subject.header(asked))) + "\n")
    for columns in batches:
        lines = zip(*(_encoded(column, fields) for column in columns), strict=True)
        yield _utf8("\n".join(map(delimiter.join, lines)) + "\n")


def _json(subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
    """One array of objects, one object per line."""
    assert subject.batches is not None
    batches, header, before = subject.batches(asked), subject.header(asked), "[\n"
    keys = (_JSON(column).replace("%", "%%") for column in header)
    line = f"{{{', '.join(f'{key}: %s' for key in keys)}}}"
    for columns in batches:
        lines = zip(*(_encoded(column, _values) for column in columns), strict=True)
        yield _utf8(before + ",\n".join(map(line.__mod__, lines)))
        before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


def _values(column: Sequence[object]) -> Iterable[str]:
    """Each value as JSON."""
    if str in set(map(type, column)):
        return map(_JSON, column)
    return _JSON(column)[1:-1].split(", ")  # no text: each piece is one value


def _encoded(column: Sequence[object], encode: Callable[[Sequence[object]], Iterable[str]]) -> Iterable[str]:
    """The values of a column as ``encode`` writes them. Most values are repeated, and are encoded only
    once."""
    kinds, distinct = set(map(type, column)), list(set(column))
    # 1, 1.0 and True would be the same key, and so would 0.0 and -0.0.
    if len(kinds) > 1 or (kinds == {float} and 0.0 in distinct):
        return encode(column)
    return map(dict(zip(distinct, encode(distinct), strict=True)).__getitem__, column)


def _utf8(text: str) -> bytes:
    """The text of a session as bytes, whatever it contains."""
    return text.encode("utf-8", "backslashreplace")


class _Pieces(io.RawIOBase):
    """A file that only grows, and hands out what was written since the last time."""

    def __init__(self) -> None:
        self._size = 0
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "Buffer") -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _parquet(subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
    """Typed columns, text as it is, in groups of rows that fit into memory."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ModuleNotFoundError:
        raise BadUsage(PARQUET.needed("--format parquet")) from None
    assert subject.batches is not None
    batches, header = subject.batches(asked), subject.header(asked)
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[TYPES[name]]) for name in header])
    pieces = _Pieces()
    with ParquetWriter(pieces, schema, compression="zstd") as writer:
        for columns in _together(batches, len(header)):
            writer.write_table(pa.table(list(map(pa.array, columns, schema.types)), schema=schema))
            yield pieces.taken()
    yield pieces.taken()


def _together(batches: Iterator[Batch], width: int) -> Iterator[list[list[object]]]:
    """The batches joined to groups of at least `GROUP` rows, but for the last."""
    columns: list[list[object]] = [[] for _ in range(width)]
    for batch in batches:
        for column, more in zip(columns, batch, strict=True):
            column += more
        if len(columns[0]) >= GROUP:
            yield columns
            columns = [[] for _ in range(width)]
    yield columns


def _npz(subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
    """Arrays by name, compressed, for ``numpy.load``."""
    import numpy as np

    assert subject.arrays is not None
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **subject.arrays(asked))
    yield buffer.getvalue()


def _ldavis(subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
    """One object, as pyLDAvis writes it; either program can show it."""
    from wikitopics.session.analysis.ldavis import prepare

    assert subject.model is not None
    with asked.reader.one_moment():
        learnt = subject.model(asked)
        words = underscored(asked.reader.vocabulary())
        tokens = int(asked.reader.word_counts().counts.sum())
    prepared = prepare(learnt.topics(), learnt.topic_shares(), words, tokens)
    yield _utf8(json.dumps(prepared, ensure_ascii=False, allow_nan=False) + "\n")


FORMATS = {
    form.name: form
    for form in (
        Format("csv", "CSV", ending=".csv", stream=partial(_table, ","), bom=True),
        Format("tsv", "TSV", ending=".tsv", stream=partial(_table, "\t"), bom=True),
        Format("json", "JSON", ending=".json", stream=_json),
        Format("parquet", "Parquet", ending=".parquet", stream=_parquet, binary=True),
        Format("npz", "NumPy .npz", ending=".npz", stream=_npz, binary=True),
        Format("gensim", "gensim LdaModel, a folder", ending="-gensim", folder=write_gensim),
        Format("ldavis", "LDAvis JSON", ending=".ldavis.json", stream=_ldavis),
    )
}


def format_of(subject: Subject, name: str | None) -> Format:
    """The format of this name, or the default one. Raises `BadUsage` for a format that does not fit."""
    if name is None:
        name = subject.formats[0]
    if name not in subject.formats:
        raise BadUsage(f"{subject.name} cannot be exported as {name}: choose {', '.join(subject.formats)}")
    return FORMATS[name]


def written_to(path: Path, subject: Subject, named: str | None = None) -> Format:
    """The format of the file at ``path``: the one of this name, else the one that the ending of the file's
    name stands for, or without an ending the default one.

    Raises `BadUsage` for a format that does not fit, and for an ending that another format has, or none.
    """
    from wikitopics.session.storage.files import check_target

    ending = path.suffix.lower()
    endings = {form.ending: name for name, form in FORMATS.items() if path.name.lower().endswith(form.ending)}
    meant = endings[max(endings, key=len)] if endings else None
    form = format_of(subject, named or meant)
    if named is None and meant is None and ending:
        check_target(path)  # a session's name has another ending, too
        *others, last = (FORMATS[name].ending for name in subject.formats)
        raise BadUsage(
            f"{path.name}: no format has the ending {ending}; end the name in {', '.join(others)} or {last}, "
            "or name the format"
        )
    if named is not None and meant is not None and ending and not form.ending.endswith(ending):
        raise BadUsage(f"{path.name}: {ending} is not the ending of {named}: use {form.ending}")
    return form


def save(
    subject: Subject,
    form: Format,
    asked: ExportRequest,
    path: Path,
    progress: Callable[[int], None] = lambda rows: None,
) -> int | None:
    """Write an export to ``path``, whole or not at all; returns the rows written, None for formats without
    rows."""
    from wikitopics.session.storage.files import replacing

    if form.folder is not None:
        form.folder(subject, asked, path)
        return None
    rows: int | None = None

    def counted(asked: ExportRequest) -> Iterator[Batch]:
        nonlocal rows
        assert subject.batches is not None
        rows = 0
        for batch in subject.batches(asked):
            yield batch
            rows += len(batch[0])
            progress(rows)

    assert form.stream is not None
    with replacing(path) as file:
        for piece in form.stream(replace(subject, batches=counted) if subject.batches else subject, asked):
            file.write(piece)
    return rows
