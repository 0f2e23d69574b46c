"""What can be exported from a session: every table, with its columns and the function that makes
its rows, and the model.

`wikitopics export`, the screen's dialog, `--json` of the commands and `wikitopics.open` are made
from `TABLES` and from `FORMATS` in `formats.py`. Importing this module does not load numpy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, astuple, dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from wikitopics.session.advance import Advance, unseen
from wikitopics.session.errors import BadUsage
from wikitopics.session.sources import kind_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wikitopics.model import OnlineModel
    from wikitopics.session.analysis.described import Topic
    from wikitopics.session.storage.reader import SessionReader


Row = Sequence[object]
"""One value per column."""
Batch = Sequence[Sequence[object]]
"""Some rows, as one sequence per column: handling millions row by row would take minutes."""
Batches = Callable[["ExportRequest"], Iterator[Batch]]
TOPIC_COLUMNS = (
    "share",
    "name",
    "npmi",
    "parent",
    "in_use",
    "area",
    "area_name",
    "shown",
    "titles",
    "found",
)
"""What is said of each topic beside its number and words: attributes of `Topic`. Here as in every
table, new ones go behind those of earlier versions."""
WIDE_COLUMNS = ("name", "area", "area_name", "share")
WIDE_WORDS = tuple(f"word_{rank}" for rank in range(1, 11))
WIDE_MORE = ("shown", "titles", "found", "npmi", "in_use", "hidden")
TYPES: Mapping[str, type] = {
    "area": int,
    "area_name": str,
    "articles": int,
    "count": int,
    "event": str,
    "found": float,
    "hidden": bool,
    "id": str,
    "in_use": bool,
    "metric": str,
    "model": str,
    "name": str,
    "npmi": float,
    "other": int,
    "page_id": int,
    "parent": int,
    "probability": float,
    "proportion": float,
    "rank": int,
    "revision_id": int,
    "role": str,
    "seconds": float,
    "share": float,
    "shown": str,
    "snippet": str,
    "title": str,
    "titles": str,
    "tokens": int,
    "topic": int,
    "topic_area": str,
    "topic_name": str,
    "value": float,
    "word": str,
    "words": int,
    "x": float,
    "y": float,
    **dict.fromkeys(WIDE_WORDS, str),
}
"""The type of each column's values, besides None; a column's name has the same type in every
table."""
WRITTEN = "written"
"""What is told while the rows of articles, or of documents, are written."""
_BATCH_ROWS = 500
_HISTORY_WORDS = 10
"""The number of words of each topic in the history."""
_DIGITS = 6
"""The number of digits after the point of a proportion."""


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
    snippets: bool = False
    """Whether --snippets was given: without it, a table has no text of documents."""
    advance: Advance = unseen
    """Is told how many articles have been read or written, where there may be millions."""


def has_ids(request: ExportRequest) -> bool:
    """Whether documents have ids of their own."""
    return request.reader.has_ids()


def with_snippets(request: ExportRequest) -> bool:
    """Whether the beginnings of texts are exported too. Raises `BadUsage` if they are asked for and
    the session has none."""
    if request.snippets and not request.reader.has_snippets():
        raise BadUsage("the session keeps no snippets, which are the beginnings of texts")
    return request.snippets


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
    """A function that returns the table's rows in a fixed order, in batches. If records are
    missing, the function raises the error before it returns the iterator: so nothing has been
    written by then."""
    least_rows: Callable[[ExportRequest], int] = lambda request: 0
    """A number of rows that it surely has, known without reading them."""
    formats: tuple[str, ...] = ("csv", "tsv", "json", "parquet", "xlsx")
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

    @property
    def has_snippets(self) -> bool:
        """Whether it can have the beginnings of texts."""
        return "snippet" in self.optional

    def models(self, reader: "SessionReader", model: str | None) -> Sequence[str]:
        """The models to export: the one that is named; if none is, the first or all of them.

        Raises SessionError for an unknown one.
        """
        if model is None and not self.one_model:
            return reader.models()
        return [reader.model_named(model)]

    def header(self, request: ExportRequest) -> tuple[str, ...]:
        """The names of the columns."""
        optional = [name for name, has_it in self.optional.items() if has_it(request)]
        return (*self.columns, *optional)


TABLES: dict[str, Table] = {}


def batched(rows: Callable[[ExportRequest], Iterable[Row]]) -> Batches:
    """Turn a function that yields rows into one that yields batches of them."""

    def in_batches(remaining: Iterator[Row]) -> Iterator[Batch]:
        while batch := list(islice(remaining, _BATCH_ROWS)):
            columns = zip(*batch, strict=True)
            yield list(columns)

    return lambda request: in_batches(iter(rows(request)))


def table(name: str, label: str, columns: str, **properties: Any) -> Callable[[Batches], Batches]:
    """Declare the table whose rows this function makes. ``properties``: other fields of `Table`."""

    def declare(batches: Batches) -> Batches:
        TABLES[name] = Table(name, label, tuple(columns.split()), batches=batches, **properties)
        return batches

    return declare


@table(
    "topics",
    "Topics: top words, probabilities, shares, names",
    f"model topic rank word probability {' '.join(TOPIC_COLUMNS)}",
    of_texts=True,
)
@batched
def _topics(request: ExportRequest) -> Iterator[Row]:
    """The topics as they are now, one row per word."""
    from wikitopics.session.analysis.described import described_topics

    for model in request.models:
        for topic in described_topics(request.reader, model):
            described = [_cell(topic, column) for column in TOPIC_COLUMNS]
            words = zip(topic.words, topic.probabilities, strict=True)
            for rank, (word, probability) in enumerate(words, start=1):
                yield model, topic.number, rank, word, probability, *described


def _cell(topic: "Topic", column: str) -> object:
    """What is said of a topic; several words or titles are one text."""
    from wikitopics.session.wording import APART, in_line

    if column == "titles":
        return APART.join(topic.titles)
    value = getattr(topic, column)
    return in_line(value) if isinstance(value, tuple) else value


@batched
def _wide(request: ExportRequest) -> Iterator[Row]:
    """The topics as they are now, one row per topic."""
    from wikitopics.session.analysis.described import described_topics

    for model in request.models:
        for topic in described_topics(request.reader, model):
            words: list[str | None] = list(topic.words[: len(WIDE_WORDS)])
            words += [None] * (len(WIDE_WORDS) - len(words))
            described = [_cell(topic, column) for column in WIDE_COLUMNS]
            more = [_cell(topic, column) for column in WIDE_MORE]
            yield model, topic.number, *described, *words, *more


WIDE = replace(
    TABLES["topics"],
    columns=("model", "topic", *WIDE_COLUMNS, *WIDE_WORDS, *WIDE_MORE),
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
    for event in request.reader.topic_events():
        if event.model in request.models:
            yield astuple(event)


@table(
    "metrics",
    "Metrics: perplexity and all other measurements",
    "model articles tokens seconds metric value",
)
@batched
def _metrics(request: ExportRequest) -> Iterator[Row]:
    for model, *values in request.reader.all_metrics():
        if model in request.models:
            yield model, *values


def _with_roles(request: ExportRequest) -> bool:
    """Whether held-out and skipped articles are exported too."""
    return request.everything


def _least_articles(request: ExportRequest) -> int:
    """One row for each trained article and model; fewer, if not all held-out or skipped ones are
    kept."""
    reader = request.reader
    progress = reader.progress()
    others = progress.held_out + progress.skipped
    return max(0, reader.n_articles() - others) * len(request.models)


def _always(request: ExportRequest) -> bool:
    """For a column that came after the optional ones, and so is behind them."""
    return True


@table(
    "articles",
    "Articles: each with its largest topic",
    "page_id title revision_id words model topic proportion",
    least_rows=_least_articles,
    optional={
        "role": _with_roles,
        "id": has_ids,
        # Not called as in `topics`, with which queries join this table.
        "topic_name": _always,
        "topic_area": _always,
        "snippet": with_snippets,
    },
    everything="include held-out and skipped articles, with a role column",
    of_texts=True,
)
def _articles(request: ExportRequest) -> Iterator[Batch]:
    return _largest_topics(request, with_snippet=with_snippets(request))


def _largest_topics(request: ExportRequest, *, with_snippet: bool) -> Iterator[Batch]:
    """One row for each article and model, with its largest topic."""
    from wikitopics.session.analysis.described import described_topics

    names_of = {
        model: [(topic.name, topic.area_name) for topic in described_topics(request.reader, model)]
        for model in request.models
    }
    with_role = _with_roles(request)
    with_id = has_ids(request)
    models = [
        (place, model)
        for place, model in enumerate(request.reader.models())
        if model in request.models
    ]
    last_seq = request.reader.last_seq()
    for columns in request.reader.all_articles(trained_only=not request.everything):
        rows: list[Row] = []
        seqs, *_ = columns
        snippets = request.reader.snippets_of(seqs) if with_snippet else []
        for row, article in enumerate(zip(*columns, strict=True)):
            _, page_id, title, revision_id, words, role, topics, shares, id = article
            optional = []
            if with_role:
                optional.append(role)
            if with_id:
                optional.append(id)
            last = [snippets[row] or None] if with_snippet else []
            if not topics:
                empty = (None, None, None, *optional, None, None, *last)
                rows.append((page_id, title, revision_id, words, *empty))
                continue
            for place, model in models:
                topic = topics[place]
                names = names_of[model]
                # Without a snapshot, topics have no names yet.
                named = names[topic] if topic < len(names) else (None, None)
                largest = (model, topic, shares[place], *optional, *named, *last)
                rows.append((page_id, title, revision_id, words, *largest))
        yield list(zip(*rows, strict=True))
        request.advance(WRITTEN, seqs[-1], last_seq)


def _proportions_matrix(request: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """The arrays that `scipy.sparse.load_npz` reads, with page_ids (D,) beside them."""
    import numpy as np

    from wikitopics.session.analysis.frames import as_csr

    model = request.models[0]
    matrix, page_ids = as_csr(
        request.reader, model, held_out=request.everything, advance=request.advance
    )
    arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    return {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        **arrays,
        "page_ids": page_ids,
    }


def _least_proportions(request: ExportRequest) -> int:
    return sum(request.reader.least_proportions(model) for model in request.models)


def _is_of_own_documents(request: ExportRequest) -> bool:
    return kind_named(request.reader.settings().source).own


@table(
    "proportions",
    "Proportions: the topics of every article (npz: one model's, as CSR)",
    "page_id title model topic proportion",
    formats=("csv", "tsv", "json", "parquet", "xlsx", "npz"),
    least_rows=_least_proportions,
    optional={"id": has_ids, "role": _is_of_own_documents},
    arrays=_proportions_matrix,
    everything="also include your own held-out documents in npz",
    of_texts=True,
)
def _proportions(request: ExportRequest) -> Iterator[Batch]:
    request.reader.check_proportions()
    return _proportions_of_blocks(request)


def _proportions_of_blocks(request: ExportRequest) -> Iterator[Batch]:
    """One row for each recorded topic, ordered by article, and within an article by model."""
    proportions = TABLES["proportions"]
    optional = proportions.header(request)[len(proportions.columns) :]
    n = request.reader.n_recorded()
    written = 0
    for articles, recorded in request.reader.each_block(request.models):
        of_models = [
            (
                model,
                stored.indptr().tolist(),
                stored.topics.tolist(),
                stored.values().astype(float).round(_DIGITS).tolist(),
            )
            for model, stored in zip(request.models, recorded, strict=True)
        ]
        page_ids: list[object] = []
        titles: list[object] = []
        models: list[object] = []
        topics: list[object] = []
        values: list[object] = []
        others: dict[str, list[object]] = {name: [] for name in optional}
        for place, article in enumerate(articles):
            for model, starts, stored_topics, stored_values in of_models:
                begin = starts[place]
                end = starts[place + 1]
                n_topics = end - begin
                page_ids += [article.page_id] * n_topics
                titles += [article.title] * n_topics
                models += [model] * n_topics
                topics += stored_topics[begin:end]
                values += stored_values[begin:end]
                for name in optional:
                    others[name] += [getattr(article, name)] * n_topics
        yield (page_ids, titles, models, topics, values, *others.values())
        written += len(articles)
        request.advance(WRITTEN, written, n)


@table(
    "words",
    "Words: how often each was trained on, and in how many articles",
    "word count articles",
    of_texts=True,
)
@batched
def _words(request: ExportRequest) -> Iterator[Row]:
    """The most frequent words first."""
    words = request.reader.vocabulary()
    trained = request.reader.word_counts()
    rows = zip(words, trained.counts.tolist(), trained.articles.tolist(), strict=True)
    return iter(sorted(rows, key=lambda row: -row[1]))


def trained_model(request: ExportRequest) -> "OnlineModel":
    """The model to export. Raises `SessionError` if it has no topics yet."""
    from wikitopics.session.analysis.inference import saved_model

    request.reader.check_trained()
    return saved_model(request.reader, request.models[0])


def underscored(words: Sequence[str]) -> Sequence[str]:
    """The words with underscores for blanks, as some programs need; unchanged if two of them would
    become equal."""
    with_underscores = [word.replace(" ", "_") for word in words]
    if len(set(with_underscores)) < len(with_underscores):
        return words
    return with_underscores


def _model_arrays(request: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """Every word of every topic."""
    import numpy as np

    from wikitopics.model.exported import arrays_of

    arrays = arrays_of(trained_model(request), request.reader.vocabulary())
    rule = np.array(request.reader.settings().rule)
    return {**arrays, "word_rule": rule}


@table(
    "map",
    "Map: every article's place, as a page (html), a picture (png), or growing (svg)",
    "page_id title x y topic area",
    formats=("csv", "tsv", "json", "parquet", "xlsx", "html", "svg", "png"),
    least_rows=lambda request: request.reader.n_recorded(),
    optional={"id": has_ids, "snippet": with_snippets},
    one_model=True,
    of_texts=True,
)
def _map(request: ExportRequest) -> Iterator[Batch]:
    """One row per article, in the order of reading."""
    from wikitopics.session.analysis.map_contents import map_batches

    model = request.models[0]
    return map_batches(
        request.reader,
        model,
        with_ids=has_ids(request),
        snippets=with_snippets(request),
        advance=request.advance,
    )


TABLES["model"] = Table(
    "model",
    "Model: all topics and words as arrays, or in formats that other programs load",
    formats=("npz", "gensim", "ldavis"),
    arrays=_model_arrays,
    one_model=True,
)
TABLES["proxann"] = Table(
    "proxann",
    "ProxAnn: a model with the beginnings of texts, for people or a language model to judge",
    formats=("proxann",),
    one_model=True,
    everything="include your own held-out documents",
    of_texts=True,
)
