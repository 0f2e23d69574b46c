"""What can be exported from a session: every table, with its columns and the function that makes
its rows, and the model; and the formats in which they are written.

`wikitopics export`, the screen's dialog, `--json` of the commands and `wikitopics.open` are made
from `TABLES` and `FORMATS`. Importing this module does not load numpy.
"""

import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, astuple, dataclass, field, replace
from functools import partial
from itertools import chain, cycle, islice, repeat
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikitopics.session.errors import BadUsage
from wikitopics.session.sources import INTEROP, PARQUET, described

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wikitopics.model import OnlineModel
    from wikitopics.session.storage.reader import SessionReader


Row = Sequence[object]
"""One value per column."""
Batch = Sequence[Sequence[object]]
"""Some rows, as one sequence per column: handling millions row by row would take minutes."""
Batches = Callable[["ExportRequest"], Iterator[Batch]]
WIDE_WORDS = tuple(f"word_{rank}" for rank in range(1, 11))
TYPES: Mapping[str, type] = {
    **dict.fromkeys(
        ("model", "word", "name", "event", "metric", "title", "role", "id", "area_name"), str
    ),
    **dict.fromkeys(
        ("topic", "rank", "parent", "area", "other", "articles", "tokens", "count"), int
    ),
    **dict.fromkeys(("page_id", "revision_id", "words"), int),
    **dict.fromkeys(("probability", "share", "npmi", "seconds", "value", "proportion"), float),
    "in_use": bool,
    **dict.fromkeys(WIDE_WORDS, str),
}
"""The type of each column's values, besides None; a column's name has the same type in every
table."""
_BATCH_ROWS = 500
_HISTORY_WORDS = 10
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The parameters of an export."""

    reader: "SessionReader"
    models: Sequence[str]
    """The models, in the order of the session."""
    everything: bool = False
    """Whether --all was given."""
    bom: bool = False
    """Whether --bom was given."""


def has_ids(request: ExportRequest) -> bool:
    """Whether documents have ids of their own."""
    return request.reader.has_ids()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, named arrays, or both."""

    name: str
    label: str
    """Its name for people, e.g. "Topics: top words, probabilities, shares"."""
    columns: tuple[str, ...] = ()
    """Its columns; new ones are added at the end."""
    _: KW_ONLY
    batches: Batches = lambda request: iter(())
    """Its rows in a fixed order, in batches. An error about missing records is raised by the call
    itself, not by the iterator, so before anything is written."""
    formats: tuple[str, ...] = ("csv", "tsv", "json", "parquet")
    """The formats it can be written in, the default one first."""
    optional: Mapping[str, Callable[[ExportRequest], bool]] = field(default_factory=dict)
    """Columns at the end that only some exports have, each with the condition."""
    arrays: "Callable[[ExportRequest], Mapping[str, NDArray[Any]]]" = lambda request: {}
    one_model: bool = False
    """Whether it concerns one model: the session's first, if none is named."""
    everything: str = ""
    """The meaning of --all here; "" if it has none."""
    of_texts: bool = False
    """Whether it contains titles or word counts, which are under the licence of the texts."""

    def models(self, reader: "SessionReader", model: str | None) -> Sequence[str]:
        """The models to export if this one is named, or none is. Raises SessionError for an unknown
        one."""
        return (
            [reader.model_named(model)] if model is not None or self.one_model else reader.models()
        )

    def header(self, request: ExportRequest) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns + tuple(
            name for name, is_there in self.optional.items() if is_there(request)
        )


TABLES: dict[str, Table] = {}


def batched(rows: Callable[[ExportRequest], Iterable[Row]]) -> Batches:
    """Turn a function that yields rows into one that yields batches of them."""

    def batches(left: Iterator[Row]) -> Iterator[Batch]:
        while some := list(islice(left, _BATCH_ROWS)):
            yield list(zip(*some, strict=True))

    return lambda request: batches(iter(rows(request)))


def table(name: str, label: str, columns: str, **more: Any) -> Callable[[Batches], Batches]:
    """Declare the table whose rows this function makes."""

    def declare(batches: Batches) -> Batches:
        TABLES[name] = Table(name, label, tuple(columns.split()), batches=batches, **more)
        return batches

    return declare


@table(
    "topics",
    "Topics: top words, probabilities, shares, names",
    "model topic rank word probability share name npmi parent in_use area area_name",
)
@batched
def _topics(request: ExportRequest) -> Iterator[Row]:
    """The topics as they are now, one row per word."""
    from wikitopics.session.analysis.described import described_topics

    for model in request.models:
        for topic in described_topics(request.reader, model):
            more = topic.share, topic.name, topic.npmi, topic.parent, topic.in_use
            area = topic.area, topic.area_name
            for rank, pair in enumerate(
                zip(topic.words, topic.probabilities, strict=True), start=1
            ):
                yield model, topic.number, rank, *pair, *more, *area


@batched
def _wide(request: ExportRequest) -> Iterator[Row]:
    """The topics as they are now, one row per topic."""
    from wikitopics.session.analysis.described import described_topics

    for model in request.models:
        for topic in described_topics(request.reader, model):
            words = (*topic.words, *(None for _ in WIDE_WORDS))[: len(WIDE_WORDS)]
            yield model, topic.number, topic.name, topic.area, topic.area_name, topic.share, *words


WIDE = replace(
    TABLES["topics"],
    columns=("model", "topic", "name", "area", "area_name", "share", *WIDE_WORDS),
    batches=_wide,
)
"""The table of `export topics --wide`."""


@table(
    "history", "History: the topics at every snapshot", "model articles topic rank word probability"
)
@batched
def _history(request: ExportRequest) -> Iterator[Row]:
    """The topics at every stored snapshot, one row per word."""
    for model in request.models:
        for articles, topics in request.reader.each_snapshot(model):
            for topic, words in enumerate(topics):
                for rank, (word, probability) in enumerate(words[:_HISTORY_WORDS], start=1):
                    yield model, articles, topic, rank, word, probability


@table(
    "events",
    "Events: births, deaths, splits, mergers and renamings of topics, births and mergers of areas",
    "model articles event topic other name",
)
@batched
def _events(request: ExportRequest) -> Iterator[Row]:
    return (
        astuple(event) for event in request.reader.topic_events() if event.model in request.models
    )


@table(
    "metrics",
    "Metrics: perplexity and all other measurements",
    "model articles tokens seconds metric value",
)
@batched
def _metrics(request: ExportRequest) -> Iterator[Row]:
    return (row for row in request.reader.all_metrics() if row[0] in request.models)


@table(
    "articles",
    "Articles: each with its largest topic",
    "page_id title revision_id words model topic proportion",
    optional={"role": attrgetter("everything"), "id": has_ids},
    everything="include held-out and skipped articles, with a role column",
    of_texts=True,
)
def _articles(request: ExportRequest) -> Iterator[Batch]:
    """One row for each article and model, with its largest topic."""
    ids, everything = has_ids(request), request.everything
    models = [
        (n, model) for n, model in enumerate(request.reader.models()) if model in request.models
    ]
    for columns in request.reader.all_articles(trained_only=not everything):
        rows: list[Row] = []
        for _, *common, role, topics, shares, id in zip(*columns, strict=True):
            of_models = (
                [(model, topics[n], shares[n]) for n, model in models] if topics else [(None,) * 3]
            )
            optional = (role,) * everything + (id,) * ids
            rows += [(*common, *largest, *optional) for largest in of_models]
        yield list(zip(*rows, strict=True))


def _proportions_matrix(request: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """The arrays that `scipy.sparse.load_npz` reads, with page_ids (D,) beside them."""
    import numpy as np

    from wikitopics.session.analysis.frames import as_csr

    matrix, page_ids = as_csr(request.reader, request.models[0], held_out=request.everything)
    arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    return {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        **arrays,
        "page_ids": page_ids,
    }


def _repeated(values: Iterable[object], times: Iterable[int]) -> list[object]:
    """Repeat each value as often as ``times`` says."""
    return list(chain.from_iterable(map(repeat, values, times)))


@table(
    "proportions",
    "Proportions: the topics of every article (npz: one model's, as CSR)",
    "page_id title model topic proportion",
    formats=("csv", "tsv", "json", "parquet", "npz"),
    optional={"id": has_ids, "role": lambda of: described(of.reader.settings().source).own},
    arrays=_proportions_matrix,
    everything="also include your own held-out documents in npz",
    of_texts=True,
)
def _proportions(request: ExportRequest) -> Iterator[Batch]:
    request.reader.check_proportions()
    return _proportions_of_blocks(request)


def _proportions_of_blocks(request: ExportRequest) -> Iterator[Batch]:
    """One row for each recorded topic, ordered by article, and within an article by model."""
    more = TABLES["proportions"].header(request)[len(TABLES["proportions"].columns) :]
    for articles, recorded in request.reader.each_block(request.models):
        of_article = list(zip(*(of_model.lengths.tolist() for of_model in recorded), strict=True))
        times, lengths = list(map(sum, of_article)), list(chain.from_iterable(of_article))
        topics = [iter(of_model.topics.tolist()) for of_model in recorded]
        values = [
            iter(of_model.values().astype(float).round(_DIGITS).tolist()) for of_model in recorded
        ]
        yield (
            _repeated((one.page_id for one in articles), times),
            _repeated((one.title for one in articles), times),
            _repeated(cycle(request.models), lengths),
            list(chain.from_iterable(map(islice, cycle(topics), lengths))),
            list(chain.from_iterable(map(islice, cycle(values), lengths))),
            *(_repeated(map(attrgetter(name), articles), times) for name in more),
        )


@table(
    "words",
    "Words: how often each was trained on, and in how many articles",
    "word count articles",
    of_texts=True,
)
@batched
def _words(request: ExportRequest) -> Iterator[Row]:
    """The most frequent words first."""
    words, of = request.reader.vocabulary(), request.reader.word_counts()
    rows = zip(words, of.counts.tolist(), of.articles.tolist(), strict=True)
    return iter(sorted(rows, key=lambda row: -row[1]))


def trained_model(request: ExportRequest) -> "OnlineModel":
    """The model to export. Raises `SessionError` if it has no topics yet."""
    from wikitopics.session.analysis.inference import saved_model

    request.reader.check_trained()
    return saved_model(request.reader, request.models[0])


def _model_arrays(request: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """Every word of every topic."""
    import numpy as np

    from wikitopics.model.exported import arrays_of

    rule = {"word_rule": np.array(request.reader.settings().rule)}
    return {**arrays_of(trained_model(request), request.reader.vocabulary()), **rule}


TABLES["model"] = Table(
    "model",
    "Model: all topics and words as arrays, or in formats that other programs load",
    formats=("npz", "gensim", "ldavis"),
    arrays=_model_arrays,
    one_model=True,
)


# The model as gensim's own LdaModel, written by gensim.
#
# | in gensim | is |
# |---|---|
# | lambda (K, W) | `topics` times `topic_weights`: pseudo-counts; for SCVB0 those expected, plus
# the prior |
# | alpha (K,) | `document_prior`; for the HDP alpha times the expected sticks |
# | eta | the smallest lambda: no model's prior is larger |
# | num_updates, numdocs | articles trained, and in the corpus: gensim's `update` continues in small
# steps |
#
# Learning rates, snapshots and the HDP's two levels have no place in it.

STEM = "model"
_ITERATIONS = 8
"""Iterations of gensim's inference. More would fit seen words better, but not unseen ones."""


def underscored(words: Sequence[str]) -> Sequence[str]:
    """The words with underscores for blanks, as some programs need; unchanged if two would become
    equal."""
    joined = [word.replace(" ", "_") for word in words]
    return joined if len(set(joined)) == len(joined) else words


def _write_gensim(request: ExportRequest, path: Path) -> None:
    """Write a folder with the files of ``LdaModel.save``, for ``LdaModel.load("FOLDER/model")``."""
    import numpy as np

    from wikitopics.session.storage.files import replacing_folder

    with replacing_folder(path, STEM) as folder:
        try:
            from gensim.corpora import Dictionary
            from gensim.models import LdaModel
        except ModuleNotFoundError:
            raise BadUsage(INTEROP.needed("--format gensim")) from None
        with request.reader.one_moment():
            model, words = trained_model(request), request.reader.vocabulary()
            trained = request.reader.progress().articles
        lambda_ = model.topics().astype(np.float64)
        lambda_ *= model.topic_weights()[:, None]
        eta = float(lambda_.min())
        dictionary = Dictionary()
        dictionary.token2id = {word: number for number, word in enumerate(underscored(words))}
        theirs = LdaModel(
            id2word=dictionary,
            num_topics=model.n_topics,
            alpha=model.document_prior(),
            eta=eta,
            iterations=_ITERATIONS,
            dtype=np.float64,  # in float32, gensim's smallest word probability is 1e-7
            random_state=0,
        )
        theirs.state.sstats = lambda_ - eta
        theirs.state.numdocs = model.n_documents
        theirs.num_updates = trained
        theirs.sync_state()
        theirs.save(str(folder / STEM))


# The formats.

GROUP = 50_000
"""The number of rows of a Parquet file that are written together."""
_FORMULA = re.compile(
    # Chinese and Japanese spreadsheets accept the wide signs too. Blanks before a sign do not stop
    # a formula.
    r"^(?=[\t\r\n]|\s*[=+\-@＝＋－＠])"
    # A spreadsheet that splits at another sign takes what follows it for a cell, and the quotation
    # marks around the whole for a part of the first one.
    r"|(?<=[;,\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠])"
)
"""The places at which a cell that begins with a formula may begin."""
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
    stream: Callable[[Table, ExportRequest], Iterator[bytes]] | None = None
    """The pieces of the stream; text is UTF-8."""
    folder: Callable[[ExportRequest, Path], None] | None = None
    """Writes the files of a format that is no stream."""
    binary: bool = False
    """Whether it cannot be shown on a terminal."""
    bom: bool = False
    """Whether it may begin with a byte order mark."""


def _table(delimiter: str, table: Table, request: ExportRequest) -> Iterator[bytes]:
    """A header and rows; text that a spreadsheet would take for a formula gets a ``'`` before
    it."""
    batches, special = table.batches(request), re.compile(f'[{delimiter}"\\r\\n]')

    def field(value: object) -> str:
        """The value as in RFC 4180, and so that no spreadsheet evaluates it."""
        if not isinstance(value, str):
            return "" if value is None else repr(value)
        text = _FORMULA.sub("'", value)
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    yield (BOM_UTF8 if request.bom else b"") + _utf8(
        delimiter.join(map(field, table.header(request))) + "\n"
    )
    for columns in batches:
        lines = zip(*(_encoded(column, field) for column in columns), strict=True)
        yield _utf8("\n".join(map(delimiter.join, lines)) + "\n")


def _json(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """One array of objects, one object per line."""
    batches, before = table.batches(request), "[\n"
    keys = (_JSON(column).replace("%", "%%") for column in table.header(request))
    line = f"{{{', '.join(f'{key}: %s' for key in keys)}}}"
    for columns in batches:
        lines = zip(*(_encoded(column, _JSON) for column in columns), strict=True)
        yield _utf8(before + ",\n".join(map(line.__mod__, lines)))
        before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


def _encoded(column: Sequence[Any], encode: Callable[[object], str]) -> Iterable[str]:
    """The values of a column as ``encode`` writes them. Most values are repeated, and are encoded
    only once."""
    kinds, distinct = set(map(type, column)), set(column)
    if kinds == {int} or (kinds == {float} and all(map(isfinite, distinct))):
        encode = repr  # the same in every format, and quicker
    # 1, 1.0 and True would be the same key, and so would 0.0 and -0.0.
    if len(kinds) > 1 or (kinds == {float} and 0.0 in distinct):
        return map(encode, column)
    return map({value: encode(value) for value in distinct}.__getitem__, column)


def _utf8(text: str) -> bytes:
    """The text of a session as bytes, whatever it contains."""
    return text.encode("utf-8", "backslashreplace")


def _parquet(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """Typed columns, text as it is, in groups of rows that fit into memory."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ModuleNotFoundError:
        raise BadUsage(PARQUET.needed("--format parquet")) from None
    batches, header = table.batches(request), table.header(request)
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[TYPES[name]]) for name in header])
    file, parts = io.BytesIO(), [schema.empty_table()]
    with ParquetWriter(file, schema, compression="zstd") as writer:
        for columns in batches:
            parts.append(pa.table(list(map(pa.array, columns, schema.types)), schema=schema))
            if sum(map(len, parts)) >= GROUP:
                writer.write_table(pa.concat_tables(parts))
                yield _taken(file)
                del parts[1:]
        writer.write_table(pa.concat_tables(parts))
    yield _taken(file)


def _taken(file: io.BytesIO) -> bytes:
    """What was written into this file since the last call; pyarrow keeps its own count of the
    bytes."""
    piece = file.getvalue()
    file.seek(0)
    file.truncate()
    return piece


def _npz(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """Arrays by name, compressed, for ``numpy.load``."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **table.arrays(request))
    yield buffer.getvalue()


def _ldavis(table: Table, request: ExportRequest) -> Iterator[bytes]:
    """One object, as pyLDAvis writes it; either program can show it."""
    from wikitopics.session.analysis.ldavis import ldavis

    with request.reader.one_moment():
        model, words = trained_model(request), underscored(request.reader.vocabulary())
        tokens = int(request.reader.word_counts().counts.sum())
    prepared = ldavis(model.topics(), model.topic_shares(), words, tokens)
    yield _utf8(json.dumps(prepared, ensure_ascii=False, allow_nan=False) + "\n")


FORMATS = {
    form.name: form
    for form in (
        Format("csv", "CSV", ending=".csv", stream=partial(_table, ","), bom=True),
        Format("tsv", "TSV", ending=".tsv", stream=partial(_table, "\t"), bom=True),
        Format("json", "JSON", ending=".json", stream=_json),
        Format("parquet", "Parquet", ending=".parquet", stream=_parquet, binary=True),
        Format("npz", "NumPy .npz", ending=".npz", stream=_npz, binary=True),
        Format("gensim", "gensim LdaModel, a folder", ending="-gensim", folder=_write_gensim),
        Format("ldavis", "LDAvis JSON", ending=".ldavis.json", stream=_ldavis),
    )
}


def format_of(table: Table, name: str | None) -> Format:
    """The format of this name, or the default one. Raises `BadUsage` for a format that does not
    fit."""
    name = name or table.formats[0]
    if name not in table.formats:
        raise BadUsage(
            f"{table.name} cannot be exported as {name}: choose {', '.join(table.formats)}"
        )
    return FORMATS[name]


def written_to(path: Path, table: Table, named: str | None = None) -> Format:
    """The format of the file at ``path``: the one of this name, else the one with the ending of the
    file's name, or without an ending the default one.

    Raises `BadUsage` for a format that does not fit, and for an ending of no format or of another
    one.
    """
    from wikitopics.session.storage.files import check_target

    ending, name = path.suffix.lower(), path.name.lower()
    fitting = [one for one in FORMATS.values() if name.endswith(one.ending)]
    meant = max(fitting, key=lambda one: len(one.ending), default=None)
    form = format_of(table, named or (meant.name if meant else None))
    if ending and named is None and meant is None:
        check_target(path)  # first, since the file may be a session
        *others, last = (FORMATS[one].ending for one in table.formats)
        raise BadUsage(
            f"{path.name}: no format has the ending {ending}; end the name in {', '.join(others)} "
            f"or {last}, or name the format"
        )
    if ending and named and meant and not form.ending.endswith(ending):
        raise BadUsage(f"{path.name}: {ending} is not the ending of {named}: use {form.ending}")
    return form


def save(
    table: Table,
    form: Format,
    request: ExportRequest,
    path: Path,
    progress: Callable[[int], object] = lambda rows: None,
) -> int | None:
    """Write an export to ``path``, whole or not at all. Returns the number of rows written; None
    for a format without rows."""
    from wikitopics.session.storage.files import replacing

    if form.folder is not None:
        form.folder(request, path)
        return None
    rows: int | None = None

    def counted(batches: Iterator[Batch]) -> Iterator[Batch]:
        nonlocal rows
        rows = 0
        for batch in batches:
            yield batch
            rows += len(batch[0])
            progress(rows)

    assert form.stream is not None
    counting = replace(table, batches=lambda request: counted(table.batches(request)))
    with replacing(path) as file:
        file.writelines(form.stream(counting, request))
    return rows
