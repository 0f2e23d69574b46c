"""`wikitopics.open`: a session as Python objects, for notebooks and scripts. Its file is only
read."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, SupportsIndex, overload

import numpy as np

from wikitopics.crawler.texts.kinds import MARKUP
from wikitopics.extra import NOTEBOOK, REPORT
from wikitopics.model import Minibatch
from wikitopics.session.analysis import formats, frames, inference, listing, report, similar
from wikitopics.session.analysis.areas import Area as Area
from wikitopics.session.analysis.areas import areas
from wikitopics.session.analysis.described import Topic as Topic
from wikitopics.session.analysis.described import described_topics
from wikitopics.session.analysis.exports import TABLES, ExportRequest
from wikitopics.session.analysis.listing import Article as Article
from wikitopics.session.analysis.map_contents import map_contents
from wikitopics.session.analysis.similar import Neighbour, Recorded
from wikitopics.session.control import list_sessions, remove
from wikitopics.session.errors import BadUsage, NoSession, SessionError, did_you_mean
from wikitopics.session.escapes import visible
from wikitopics.session.paths import DEFAULT_SESSION, session_name, session_path, user_path
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.sources import noun
from wikitopics.session.storage.articles import MOST_ARTICLES
from wikitopics.session.storage.block import Counted
from wikitopics.session.storage.counts import KeptCounts
from wikitopics.session.storage.files import replacing
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import found_legend, in_line

if TYPE_CHECKING:
    from markupsafe import Markup as Html
    from numpy.typing import NDArray
    from pandas import DataFrame
    from scipy.sparse import csr_array

    from wikitopics.crawler.page import Markup
    from wikitopics.model import OnlineModel
    from wikitopics.session.analysis.map_frame import MapFrame
    from wikitopics.session.records import Status, TopicEvent
    from wikitopics.vocab import Vocabulary


# What a session gives in Python: topics, articles and measurements as plain values.


@dataclass(frozen=True, slots=True, repr=False)
class TopicThen:
    """A topic as it was at one snapshot, after `articles` articles."""

    articles: int
    share: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    def __repr__(self) -> str:
        return f"<after {self.articles:,} articles, {self.share:.1%}: {in_line(self.words[:10])}>"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value of one metric, as in `wikitopics export metrics`."""

    model: str
    articles: int
    """Articles trained on by then."""
    tokens: int
    """Words of these articles."""
    seconds: float
    """The trainer's time until then."""
    metric: str
    value: float


MOST_SHOWN = 20
"""The maximum number of topics of a model that a notebook shows."""


class Topics(list[Topic]):
    """The topics of a model; a notebook shows the largest as a table."""

    def __init__(self, topics: Iterable[Topic], session: StoredSession, model: str) -> None:
        super().__init__(topics)
        self._session = session
        self._model = model

    @overload
    def __getitem__(self, index: SupportsIndex) -> Topic: ...
    @overload
    def __getitem__(self, index: slice) -> Topics: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Topic | Topics:
        """A topic, or a part of the list, which a notebook shows as a table, too."""
        if isinstance(index, slice):
            return Topics(super().__getitem__(index), self._session, self._model)
        return super().__getitem__(index)

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import page

        return page.framed(self._as_html(MOST_SHOWN))

    def _as_html(self, most: int) -> Html:
        """The largest topics in use as a table under a heading: a piece of a page."""
        from wikitopics.session.analysis.report import page
        from wikitopics.session.analysis.report.contents import course_of

        used = [topic for topic in self if topic.in_use and not topic.hidden]
        shown = used[:most]
        heading = f"{len(used):,} topics of {self._model}"
        if len(used) > most:
            heading += f", the {most} largest"
        with self._session._reading(self._model) as (reader, name):
            history = reader.share_history(name)
        rows = [
            (
                topic.number,
                topic.name,
                topic.found,
                topic.share,
                course_of(history, topic.number),
                topic.shown,
                topic.titles,
            )
            for topic in shown
        ]
        legend = found_legend(topic.found for topic in shown)
        return page.noted(heading) + page.noted(legend) + page.listed(rows)


def open(session: str | os.PathLike[str] = DEFAULT_SESSION) -> StoredSession:
    """The session of this name, or at this path: a str with a `/` or ending in `.db`, or any
    `Path`.

    Raises `SessionError` if there is none or it cannot be read.
    """
    return StoredSession(session)


def sessions() -> list[StoredSession]:
    """The sessions in the session folder, by name, as `wikitopics sessions` lists them.

    Warns of a session that cannot be read.
    """
    found = []
    for name, path, status in list_sessions():
        if isinstance(status, str):
            warnings.warn(visible(f"session {name} is left out: {status}"), stacklevel=2)
        else:
            found.append(StoredSession(path))
    return found


def delete(session: str | os.PathLike[str]) -> None:
    """Delete the session of this name, or at this path, for good.

    Raises `SessionError` if there is no such session, if a trainer is running on it, or if the file
    is not a session.
    """
    with _in_python():
        remove(path_of(session))


def path_of(session: str | os.PathLike[str]) -> Path:
    """The file of the session of this name, or at this path, as for `open`.

    Raises ValueError for anything that cannot be a name, and TypeError.
    """
    if not isinstance(session, str | os.PathLike):
        raise wrong_type("session", "a name or a path", session)
    try:
        if isinstance(session, str):
            return session_path(session)
        return session_path(str(Path(session).absolute()))
    except BadUsage as error:
        raise ValueError(f"session: {error}") from None


class StoredSession:
    """A session file, read-only. Works beside a running trainer, from any thread, and can be
    pickled.

    Every method opens the file, reads it as of one moment, and closes it again: two calls may see
    the session at two moments, but one call never does. `model` is a model's name; None means the
    session's first model. Every method may raise ValueError or TypeError for a wrong argument, and
    `SessionError` if something is wrong with the session; the message is one line.
    """

    def __init__(self, session: str | os.PathLike[str] = DEFAULT_SESSION) -> None:
        self.path = path_of(session)
        self._recorded: Recorded | None = None
        with _reader(self.path) as reader:
            reader.settings()  # a damaged file is refused at once
            self._file = reader.file

    def status(self) -> Status:
        """Its progress and the state of its trainer: the keys of `wikitopics status --json`, and
        more.

        `pass` is called `pass_`, since Python reserves that word.
        """
        with self._open() as reader, reader.one_moment():
            return reader.status()

    def topics(self, model: str | None = None) -> Topics:
        """All topics, most prevalent first, as of the newest snapshot; empty before the first
        minibatch."""
        with self._reading(model) as (reader, name):
            topics = described_topics(reader, name)
        return Topics(sorted(topics, key=lambda topic: -topic.share), self, name)

    def areas(self, n: int | None = None, model: str | None = None) -> list[Area]:
        """The areas of the topics in use, the largest first: topics of one area use the same words
        and occur in the same articles. Topics that belong to none come last, as the area "other".
        With `n`, the tree of the topics in areas is cut into that many; numbers and names are then
        valid only for this cut. Empty before the first minibatch.
        """
        n = None if n is None else whole("n", n, least=1)
        with self._reading(model) as (reader, name):
            return areas(reader, name, n)

    def history(self, topic: int, model: str | None = None) -> list[TopicThen]:
        """One topic at every stored snapshot, oldest first."""
        topic = whole("topic", topic)
        with self._reading(model) as (reader, name):
            reader.check_topic(name, topic)
            snapshots = reader.topic_history(name, topic, SNAPSHOT_WORDS)
        history = []
        for articles, share, leading in snapshots:
            words, probabilities = zip(*leading, strict=True)
            history.append(TopicThen(articles, share, words, probabilities))
        return history

    def events(self, model: str | None = None) -> list[TopicEvent]:
        """The events of a model's topics, oldest first."""
        with self._reading(model) as (reader, name):
            return [event for event in reader.topic_events() if event.model == name]

    def articles(
        self,
        topic: int | None = None,
        limit: int = 20,
        model: str | None = None,
    ) -> list[Article]:
        """The articles most about a topic, the most typical first: those with a large share of the
        topic, while the share of a short article counts for less. If `topic` is None, the newest
        articles, whatever their role."""
        limit = whole("limit", limit, least=0)
        if topic is not None:
            topic = whole("topic", topic)
        with self._reading(model) as (reader, name):
            return listing.listed_articles(reader, name, topic, limit)

    def metrics(self, model: str | None = None) -> list[Measurement]:
        """The measurements of a model, by articles; `pandas.DataFrame` takes the list."""
        with self._reading(model) as (reader, name):
            measurements = [Measurement(*row) for row in reader.all_metrics()]
        return [measurement for measurement in measurements if measurement.model == name]

    def compare(self) -> DataFrame:
        """A pandas table of the session's models on its held-out articles, as `wikitopics compare`
        prints it; those of one kind are in the order of their numbers of topics.

        The index is the model's name. The columns are `topics`, their number; `log_likelihood`, in
        nats per word; `standard_error`, of its difference from the best one, over articles: less
        than twice that may be chance; `npmi`, the mean coherence of the topics; `distinct`, the
        share of distinct words among the ten most probable ones of all topics in use; and `found`,
        the part of the replicas that have a topic in use, on average (NaN without replicas).

        Models are loaded, and score the articles again. Raises `SessionError` if no articles are
        held out.
        """
        with self._open() as reader:
            return frames.compared(reader)

    def infer(
        self,
        texts: Iterable[str | None],
        model: str | None = None,
        *,
        markup: Markup | None = None,
    ) -> NDArray[np.float32]:
        """(D, K) topic proportions of texts, rows sum to 1. Many texts in one call are quicker than
        one at a time.

        ``markup``: "wikitext" or "html", to be removed first; None: as in the session's own texts.
        A session of links takes texts with links in either markup, and recognises which of the two
        it is.

        A text without any word of the vocabulary, None or NaN, gets what the model expects of an
        unread document.
        """
        _, theta = self._inferred(texts, model, markup)
        return theta

    def _inferred(
        self,
        texts: Iterable[str | None],
        model: str | None,
        markup: Markup | None,
    ) -> tuple[list[Counted], NDArray[np.float32]]:
        """(the known words of each text; what `infer` returns)."""
        check_collection("texts", texts)
        checked = list[str]()
        for number, text in enumerate(map(cell, texts)):
            if text is not None and not isinstance(text, str):
                raise TypeError(
                    f"texts: number {number} is of type {type(text).__name__}, not a string"
                )
            checked.append(text or "")
        MARKUP.convert(markup)  # raises ValueError for an unknown one
        with self._open() as reader:
            name = reader.model_named(model)
            proses = inference.proses(reader, checked, markup)
            return inference.proportions(reader, name, reader.counter(), proses)

    def similar(
        self,
        title: str | None = None,
        limit: int = 20,
        model: str | None = None,
        *,
        text: str | None = None,
        markup: Markup | None = None,
    ) -> list[Neighbour]:
        """The articles most like the one with this title, or like any text, the most alike first:
        trained ones and, once the session has ended, also the user's own held-out documents.
        ``markup`` is the text's, as for `infer`. Raises ValueError for a text without any word of
        the vocabulary.

        `likeness` is from 0, no more alike than the average article, to 1, the same. It compares
        topics and, in a session that has the words of all its articles, words.

        The first call reads what is kept of all articles; later calls find it in memory until the
        session changes.
        """
        if (title is None) == (text is None):  # neither, or both
            raise ValueError("similar takes either a title or a text")
        for argument, value in (("title", title), ("text", text)):
            if not isinstance(value, str | None):
                raise wrong_type(argument, "text", value)
        limit = whole("limit", limit, least=1)
        of_text: tuple[Counted, NDArray[np.float32]] | None = None
        if text is not None:
            (counted,), (theta,) = self._inferred([text], model, markup)
            word_ids, _ = counted
            if not len(word_ids):
                raise ValueError("text contains no word of the session's vocabulary")
            of_text = counted, theta
        with self._reading(model) as (reader, name):
            recorded = self._recorded_as_of_now(reader, name)
            if of_text is not None:
                counted, theta = of_text
                return recorded.nearest(reader, theta, limit, counted)
            row = recorded.row_of(reader, str(title))
            if row is None:
                raise similar.not_found(reader, str(title))
            return recorded.nearest(reader, row, limit)

    def _recorded_as_of_now(self, reader: SessionReader, model: str) -> Recorded:
        """The recorded proportions: those in memory unless the session has changed since, or they
        are another model's."""
        recorded = self._recorded
        if (
            recorded is None
            or recorded.model != model
            or recorded.as_of.committed_at != reader.progress().committed_at
        ):
            recorded = Recorded(reader, model)
            self._recorded = recorded
        return recorded

    @overload
    def proportions(
        self,
        model: str | None = None,
        *,
        held_out: bool | None = None,
        frame: Literal[False] = False,
    ) -> tuple[csr_array, NDArray[np.int64]]: ...

    @overload
    def proportions(
        self,
        model: str | None = None,
        *,
        held_out: bool | None = None,
        frame: Literal[True],
    ) -> DataFrame: ...

    def proportions(
        self,
        model: str | None = None,
        *,
        held_out: bool | None = None,
        frame: bool = False,
    ) -> tuple[csr_array, NDArray[np.int64]] | DataFrame:
        """(scipy CSR (D, K) float32, (D,) page ids): the topic proportions of every trained
        article, if they are recorded; with `held_out`, also those of the user's own held-out
        documents, which the finished model has inferred.

        With `frame`, a pandas table with a column for each topic; held-out documents are in it
        unless `held_out` is False. Every one of your own documents has a row, in the order in which
        they were given; the row is empty (NaN) for a document without proportions, such as a text
        without any known word. The index is that of the Series given to `train`, otherwise `id` if
        every document has a unique one, otherwise `page_id`.

        Those of your own documents are what `infer` returns for the same texts once the session has
        ended: half of the absolute differences is at most 0.02, since at most 0.03 of a row is not
        recorded. Until then, as in a crawl, each article has at most its 16 largest proportions,
        to within 0.008. Those under 0.005 are not recorded; in a model of over 100 topics, this
        limit is lower: half of what each topic would have if all were equal. These proportions
        date from the article's latest training; those of the newest 20,000 articles were updated
        each time the session doubled in size. A row sums to 1 minus what was not recorded.
        """
        if held_out is None:
            held_out = frame  # by default, a table has them, and a matrix does not
        with self._reading(model) as (reader, name):
            if frame:
                return frames.as_frame(reader, name, held_out=held_out)
            return frames.as_csr(reader, name, held_out=held_out)

    def documents(self, model: str | None = None) -> DataFrame:
        """A pandas table of the documents with the largest topic of each: `topic`, `name`, `share`
        (its proportion), `area` and `area_name`. Rows and index are those of
        `proportions(frame=True)`; a row without proportions is empty.
        """
        with self._reading(model) as (reader, name):
            frame = frames.as_frame(reader, name, held_out=True)
            return frames.largest_topics(frame, described_topics(reader, name))

    def map(self, model: str | None = None, *, color: object = None) -> MapFrame:
        """The map of articles as a pandas table: `page_id`, `title`, `x` and `y` from 0 to 1
        (upwards), `topic`, the largest, and `area`, empty for a topic that is not in use. Articles
        are in the order of reading; your own documents have the rows and the index of
        `documents()`, or are numbered from 0 if they have no ids.

        A notebook shows the map, to be zoomed and searched; its `save` writes it as a page
        (`.html`) or, with the extra `report`, a picture (`.png`).

        ``color``: what to colour by instead of areas: a column such as ``frame["label"]``, whose
        index has the documents' ids (of other articles, their `page_id`), or a value for each
        document, in order. Numbers become a scale of seven parts.

        Raises `SessionError` if the session has no map of articles.
        """
        if NOTEBOOK.missing():
            raise ValueError(NOTEBOOK.needed("map()"))
        from wikitopics.session.analysis.map_frame import MapFrame

        with self._open() as reader:
            of_model = map_contents(reader, reader.model_named(model))
            documents = frames.documents_of(reader)
        return MapFrame(of_model, documents, color)

    def counts(self) -> tuple[Minibatch, NDArray[np.int64]]:
        """(word counts, (D,) page ids) of all documents, held-out ones first, if the session has
        kept them: of your own documents, with several passes, or with `--keep-counts`. A model's
        `learn` and `infer` take them unchanged.
        """
        with self._open(), KeptCounts(self.path) as kept:
            documents = kept.documents(0, len(kept))
        return documents.minibatch(), documents.page_ids

    def top_words(self, model: str | None = None, n: int = 10) -> list[list[str]]:
        """The n most probable words of every topic, most probable first: `top_words()[12]` are
        topic 12's."""
        n = whole("n", n, least=1)
        with self._reading(model) as (reader, name):
            rows = inference.top_words(reader, name, n, "probability")
        return [[word for word, _ in row] for row in rows]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `wikitopics report` to a file."""
        target = _target(path)
        with self._open() as reader:
            report.check_page(target)
            page = report.render(reader)
        with replacing(target) as file:
            file.write(page.encode())

    def export(
        self,
        what: str,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        model: str | None = None,
    ) -> None:
        """Write what `wikitopics export` writes to a file, or for gensim to a folder.

        ``format``: None follows the ending of the name; ``model``: None exports all models, or the
        first for exports of a single model.
        """
        if not isinstance(what, str) or what not in TABLES:
            raise ValueError(
                f"what: there is no export {what!r:.60}. {did_you_mean(str(what), TABLES)}"
            )
        table = TABLES[what]
        target = _target(path)
        with self._open() as reader:
            form = formats.written_to(target, table, format)
            request = ExportRequest(reader, table.models(reader, model))
            formats.save(table, form, request, target)

    def model(self, name: str | None = None) -> OnlineModel:
        """The model as it was last saved: an independent copy, ready for `infer` and `learn`."""
        with self._open() as reader:
            return inference.saved_model(reader, reader.model_named(name))

    def vocabulary(self) -> Vocabulary:
        """The vocabulary whose words the session counts, with their `document_frequencies` in what
        was trained on."""
        with self._open() as reader:
            return reader.counted_vocabulary()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_recorded": None}  # read again by the receiver

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no file is open between calls."""

    def __repr__(self) -> str:
        try:
            now = self.status()
        except SessionError as error:
            return visible(f"<StoredSession {self.path}: {error}>")
        models = ", ".join(f"{one.name} ({one.topics} topics)" for one in now.models)
        account = f"{now.state}, {now.documents:,} {noun(now.source)} ({now.source_name})"
        return visible(f"<StoredSession {session_name(self.path)}: {account}; {models}>")

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import page

        try:
            models = [
                self.topics(model.name)._as_html(MOST_SHOWN // 2) for model in self.status().models
            ]
        except SessionError:
            models = []
        return page.framed(page.noted(repr(self).strip("<>")), *models)

    @contextmanager
    def _open(self) -> Iterator[SessionReader]:
        with _reader(self.path) as reader:
            if not os.path.samestat(reader.file, self._file):
                raise NoSession(f"{self.path} was replaced: open it again with wikitopics.open")
            try:
                yield reader
            except BadUsage as error:
                in_python = str(error).replace("--format ", "format ")  # as the parameter is called
                raise ValueError(in_python) from None

    @contextmanager
    def _reading(self, model: str | None) -> Iterator[tuple[SessionReader, str]]:
        """Read everything in the block as of one moment, with the model's name; keep it short: the
        file must not be held for long."""
        with self._open() as reader, reader.one_moment():
            yield reader, reader.model_named(model)


def _reader(path: Path) -> SessionReader:
    with _in_python():
        return SessionReader(path)


@contextmanager
def _in_python() -> Iterator[None]:
    """Shorten the error for a missing session: its advice is for the command line."""
    try:
        yield
    except NoSession as error:
        raise NoSession(error.what) from None


def _target(path: str | os.PathLike[str]) -> Path:
    """The file to write."""
    if not isinstance(path, str | os.PathLike):
        raise wrong_type("path", "a path", path)
    return user_path(os.fspath(path))


# Arguments.


def wrong_type(argument: str, needed: str, value: object) -> TypeError:
    """The error for a value that is not what an argument ``needed``, in one line."""
    shown = " ".join(repr(value).split())
    return TypeError(f"{argument} must be {needed}, not {shown:.60} ({type(value).__name__})")


def check_collection(argument: str, value: object) -> None:
    """Raise TypeError unless the value is a collection, such as a list or a column of a table."""
    if hasattr(value, "columns"):  # iterating over a table yields their names
        raise TypeError(f"{argument} must be a column, such as frame['text'], not a table")
    # Arrays without dimensions hold one value.
    is_single = isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0
    yields_keys = isinstance(value, Mapping)
    if is_single or yields_keys or not isinstance(value, Iterable):
        raise wrong_type(argument, "a collection, such as a list", value)


def cell(value: object) -> object:
    """The value of a table's cell: None for NaN, for pandas' NA and NaT, and for what numpy masks;
    for a scalar of Arrow, the value that it holds."""
    if type(value).__module__.partition(".")[0] == "pyarrow":
        value = value.as_py()  # type: ignore[attr-defined]
    # By name, since pandas need not be installed.
    if type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return None
    is_nan = isinstance(value, Real) and value != value
    return None if is_nan else value


def whole(argument: str, value: SupportsIndex, least: int | None = None) -> int:
    """A whole number, which may be numpy's, but no bool; with ``least``, one from there to a
    million. Raises TypeError and ValueError."""
    if isinstance(value, bool):
        raise wrong_type(argument, "a whole number", value)
    try:
        number = index(value)
    except TypeError:
        raise wrong_type(argument, "a whole number", value) from None
    if least is not None and not least <= number <= MOST_ARTICLES:
        raise ValueError(f"{argument} must be from {least} to {MOST_ARTICLES:,}, not {number}")
    return number
