"""What can be exported: every table, with its columns and the function that makes its rows, and the model.

Importing this loads no numpy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wikitopics.model import OnlineModel
    from wikitopics.session.storage.reader import SessionReader


Row = Sequence[object]
"""One value per column."""
Batch = Sequence[Sequence[object]]
"""Some rows, as one sequence per column: handling millions row by row would take minutes."""
TYPES: Mapping[str, type] = {
    **dict.fromkeys(("model", "word", "name", "event", "metric", "title", "role", "id"), str),
    **dict.fromkeys(("topic", "rank", "parent", "other", "articles", "tokens", "count"), int),
    **dict.fromkeys(("page_id", "revision_id", "words"), int),
    **dict.fromkeys(("probability", "share", "npmi", "seconds", "value", "proportion"), float),
    "in_use": bool,
}
"""The type of each column's values, besides None; a name has the same in every table."""
_BATCH_ROWS = 500
_TOPIC_WORDS, _HISTORY_WORDS = 20, 10
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Rows, arrays or a model."""

    name: str
    label: str
    """Its name for people, e.g. "Topics: top words, probabilities, shares"."""
    formats: tuple[str, ...] = ("csv", "tsv", "json", "parquet")
    """The formats it can be written in, the default one first."""
    columns: tuple[str, ...] = ()
    """Its columns; new ones are added at the end."""
    optional: Mapping[str, Callable[[ExportRequest], bool]] = field(default_factory=dict)
    """Columns at the end that only some exports have, each with the condition."""
    batches: Callable[[ExportRequest], Iterator[Batch]] | None = None
    """Its rows in a fixed order, in batches. An error about missing records is raised by the call itself,
    before anything is written."""
    arrays: "Callable[[ExportRequest], Mapping[str, NDArray[Any]]] | None" = None
    model: "Callable[[ExportRequest], OnlineModel] | None" = None
    """The trained model, for the formats of programs that know models."""
    one_model: bool = False
    """Whether it concerns one model: the session's first, if none is named."""
    everything: str = ""
    """The meaning of --all here; "" if it has none."""
    of_texts: bool = False
    """Whether it contains titles or word counts, which are under the licence of the texts."""
    count: Callable[[ExportRequest], int | None] | None = None
    """The number of rows, if that is worth a progress line and known beforehand."""

    def models(self, reader: "SessionReader", model: str | None) -> Sequence[str]:
        """The models to export if this one is named, or None. Raises SessionError for an unknown one."""
        return [reader.model_named(model)] if model is not None or self.one_model else reader.models()

    def header(self, asked: ExportRequest) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns + tuple(name for name, is_there in self.optional.items() if is_there(asked))


def batched(rows: Callable[[ExportRequest], Iterable[Row]]) -> Callable[[ExportRequest], Iterator[Batch]]:
    """Turn a function that yields rows into one that yields batches of them."""

    def batches(left: Iterator[Row]) -> Iterator[Batch]:
        while some := list(islice(left, _BATCH_ROWS)):
            yield list(zip(*some, strict=True))

    return lambda asked: batches(iter(rows(asked)))


def _repeated(values: Iterable[object], times: Iterable[int]) -> list[object]:
    """Repeat each value as often as ``times`` says."""
    return list(chain.from_iterable(map(repeat, values, times)))


def _topics(asked: ExportRequest) -> Iterator[Row]:
    """The topics as they are now, one row per word."""
    from wikitopics.model.online import IN_USE
    from wikitopics.session.analysis.topics import coherences, topic_tree

    for model in asked.models:
        with asked.reader.one_moment():
            topics, tree = asked.reader.topics(model, top=_TOPIC_WORDS), topic_tree(asked.reader, model)
            values = coherences(asked.reader, model)
        for topic, npmi in zip(topics, values, strict=True):
            more = topic.share, topic.name, npmi, tree[topic.topic].parent, topic.share > IN_USE
            for rank, (word, probability) in enumerate(topic.words, start=1):
                yield model, topic.topic, rank, word, probability, *more


def underscored(words: Sequence[str]) -> Sequence[str]:
    """The words as programs take them that have no blanks in words; as they are if two would become one."""
    found = [word.replace(" ", "_") for word in words]
    return found if len(set(found)) == len(found) else words


TOPICS = Subject(
    name="topics",
    label="Topics: top words, probabilities, shares, names",
    columns=("model", "topic", "rank", "word", "probability", "share", "name", "npmi", "parent", "in_use"),
    batches=batched(_topics),
)


def _history(asked: ExportRequest) -> Iterator[Row]:
    """The topics at every stored snapshot, one row per word."""
    for model in asked.models:
        for articles, topics in asked.reader.each_snapshot(model):
            for topic, words in enumerate(topics):
                for rank, (word, probability) in enumerate(words[:_HISTORY_WORDS], start=1):
                    yield model, articles, topic, rank, word, probability


HISTORY = Subject(
    name="history",
    label="History: the topics at every snapshot",
    columns=("model", "articles", "topic", "rank", "word", "probability"),
    batches=batched(_history),
)


def _events(asked: ExportRequest) -> Iterator[Row]:
    for one in asked.reader.topic_events():
        if one.model in asked.models:
            yield one.model, one.articles, one.event, one.topic, one.other, one.name


EVENTS = Subject(
    name="events",
    label="Events: births, deaths, splits, mergers and renamings of topics",
    columns=("model", "articles", "event", "topic", "other", "name"),
    batches=batched(_events),
)


def _metrics(asked: ExportRequest) -> Iterator[Row]:
    return (measurement for measurement in asked.reader.all_metrics() if measurement[0] in asked.models)


METRICS = Subject(
    name="metrics",
    label="Metrics: perplexity and all other measurements",
    columns=("model", "articles", "tokens", "seconds", "metric", "value"),
    batches=batched(_metrics),
)


def _articles(asked: ExportRequest) -> Iterator[Batch]:
    """One row for each article and model, with its largest topic."""
    has_ids = asked.reader.has_ids()
    there = asked.reader.models()
    numbers = [number for number, model in enumerate(there) if model in asked.models]
    names = [there[number] for number in numbers]
    for found in asked.reader.all_articles(trained_only=not asked.everything):
        _, *common, roles, topics, shares, ids = found
        times = [len(numbers) if one else 1 for one in topics]
        columns: list[Sequence[object]] = [_repeated(values, times) for values in common]
        columns.append([name for one in topics for name in (names if one else (None,))])
        for largest in (topics, shares):
            of_models = ([one[number] for number in numbers] if one else (None,) for one in largest)
            columns.append(list(chain.from_iterable(of_models)))
        if asked.everything:
            columns.append(_repeated(roles, times))
        if has_ids:
            columns.append(_repeated(ids, times))
        yield columns


ARTICLES = Subject(
    name="articles",
    label="Articles: each with its largest topic",
    columns=("page_id", "title", "revision_id", "words", "model", "topic", "proportion"),
    optional={"role": lambda asked: asked.everything, "id": lambda asked: asked.reader.has_ids()},
    batches=_articles,
    everything="include held-out and skipped articles, with a role column",
    of_texts=True,
    count=lambda asked: None if asked.everything else asked.reader.status().articles * len(asked.models),
)


def _is_own(reader: "SessionReader") -> bool:
    from wikitopics.session.sources import described

    return described(reader.settings().source).own


def _proportions(asked: ExportRequest) -> Iterator[Batch]:
    asked.reader.check_proportions()
    return _proportions_of_blocks(asked)


def _proportions_of_blocks(asked: ExportRequest) -> Iterator[Batch]:
    """One row per topic of an article: one model's topics after another's, and then the next article's."""
    import numpy as np

    reader, models = asked.reader, asked.models
    more = [name for name, is_there in PROPORTIONS.optional.items() if is_there(asked)]
    for block in reader.each_block():
        with reader.one_moment():
            articles = reader.articles_of(*block)
            kept = [reader.proportions_of(model, *block) for model in models]
        lengths = np.column_stack([of_model.lengths for of_model in kept])  # (n, models)
        place = np.arange(lengths.size).reshape(lengths.shape)  # in the output
        order = np.argsort(np.repeat(place.T.ravel(), lengths.T.ravel()), kind="stable")
        values = np.concatenate([of_model.values() for of_model in kept])[order]
        times = lengths.sum(axis=1, dtype=np.int64).tolist()
        yield (
            _repeated((one.page_id for one in articles), times),
            _repeated((one.title for one in articles), times),
            _repeated(cycle(models), lengths.ravel().tolist()),
            np.concatenate([of_model.topics for of_model in kept])[order].tolist(),
            values.astype(float).round(_DIGITS).tolist(),
            *(_repeated(map(attrgetter(name), articles), times) for name in more),
        )


def _proportions_matrix(asked: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """The arrays that `scipy.sparse.load_npz` reads, with page_ids (D,) beside them."""
    import numpy as np

    from wikitopics.session.analysis.proportions import as_csr

    matrix, page_ids = as_csr(asked.reader, asked.models[0], held_out=asked.everything)
    return {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "page_ids": page_ids,
    }


PROPORTIONS = Subject(
    name="proportions",
    label="Proportions: the topics of every article (npz: one model's, as CSR)",
    columns=("page_id", "title", "model", "topic", "proportion"),
    optional={"id": lambda asked: asked.reader.has_ids(), "role": lambda asked: _is_own(asked.reader)},
    formats=("csv", "tsv", "json", "parquet", "npz"),
    batches=_proportions,
    arrays=_proportions_matrix,
    everything="include held-out documents of your own in npz, too",
    of_texts=True,
)


def _words(asked: ExportRequest) -> Iterator[Row]:
    """The most frequent words first."""
    words, found = asked.reader.vocabulary(), asked.reader.word_counts()
    counts, articles = found.counts.tolist(), found.articles.tolist()
    order = sorted(range(len(words)), key=lambda word: -counts[word])
    return ((words[word], counts[word], articles[word]) for word in order)


WORDS = Subject(
    name="words",
    label="Words: how often each was trained on, and in how many articles",
    columns=("word", "count", "articles"),
    batches=batched(_words),
    of_texts=True,
    count=lambda asked: len(asked.reader.vocabulary()),
)


def _model(asked: ExportRequest) -> "OnlineModel":
    """Raises `SessionError` if the model has no topics yet."""
    from wikitopics.session.analysis.proportions import saved_model

    asked.reader.check_trained()
    return saved_model(asked.reader, asked.models[0])


def _model_arrays(asked: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """Every word of every topic."""
    import numpy as np

    from wikitopics.model.exported import arrays_of

    rule = {"word_rule": np.array(asked.reader.settings().rule)}
    return {**arrays_of(_model(asked), asked.reader.vocabulary()), **rule}


MODEL = Subject(
    name="model",
    label="Model: all topics and words as arrays, or in formats that other programs load",
    formats=("npz", "gensim", "ldavis"),
    arrays=_model_arrays,
    model=_model,
    one_model=True,
)

SUBJECTS = {
    subject.name: subject
    for subject in (TOPICS, HISTORY, EVENTS, METRICS, ARTICLES, PROPORTIONS, WORDS, MODEL)
}
