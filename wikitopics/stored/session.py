"""`wikitopics.open`: a session as Python objects, for notebooks and scripts."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from wikitopics.extra import REPORT
from wikitopics.session.analysis import formats, frames, inference, report
from wikitopics.session.analysis.exports import TABLES, ExportRequest
from wikitopics.session.control import list_sessions, remove
from wikitopics.session.errors import SessionError, did_you_mean
from wikitopics.session.escapes import visible
from wikitopics.session.paths import DEFAULT_SESSION, session_name
from wikitopics.session.sources import noun
from wikitopics.session.storage.files import replacing
from wikitopics.stored.arguments import path_of, target_of
from wikitopics.stored.documents import DocumentMethods
from wikitopics.stored.opening import without_advice
from wikitopics.stored.plots import PlotMethods
from wikitopics.stored.progress_bars import following
from wikitopics.stored.topics import MOST_SHOWN, TopicMethods

if TYPE_CHECKING:
    from pandas import DataFrame

    from wikitopics.model import OnlineModel
    from wikitopics.session.records import Status
    from wikitopics.vocab import Vocabulary


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
    with without_advice():
        remove(path_of(session))


class StoredSession(TopicMethods, DocumentMethods, PlotMethods):
    """A session file, read-only but for names: `rename`, `name`, `hide` and `unhide` store which
    names topics have and which are hidden; nothing else changes the file. Works beside a running
    trainer, from any thread, and can be pickled.

    Every method opens the file, reads it as of one moment, and closes it again: two calls may see
    the session at two moments, but one call never does. `model` is a model's name; None means the
    session's first model. Every method may raise ValueError or TypeError for a wrong argument, and
    `SessionError` if something is wrong with the session; the message is one line.
    """

    def status(self) -> Status:
        """Its progress and the state of its trainer: the keys of `wikitopics status --json`, and
        more.

        `pass` is called `pass_`, since Python reserves that word.
        """
        with self._open() as reader, reader.one_moment():
            return reader.status()

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
        than twice that may be chance; `npmi`, the mean coherence of the topics in use; `distinct`,
        the share of distinct words among their ten most probable ones; and `found`, the part of
        the replicas that have such a topic, on average (NaN without replicas).

        Models are loaded, and score the articles again. Raises `SessionError` if no articles are
        held out.
        """
        with self._open() as reader:
            return frames.compared(reader)

    def report(self, path: str | os.PathLike[str], *, snippets: bool = True) -> None:
        """Write the page of `wikitopics report` to a file; without ``snippets``, it has nothing of
        the texts of your own documents but words and titles."""
        target = target_of(path)
        with self._open() as reader, following() as advance:
            report.check_page(target)
            page = report.render(reader, advance, snippets=snippets)
        with replacing(target) as file:
            file.write(page.encode())

    def export(
        self,
        what: str,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        model: str | None = None,
        snippets: bool = False,
    ) -> None:
        """Write what `wikitopics export` writes to a file, or for gensim and proxann to a folder.

        ``format``: None follows the ending of the name; ``model``: None exports all models, or the
        first for exports of a single model; ``snippets``: "articles" and "map" get the beginnings
        of your own documents, too.
        """
        if not isinstance(what, str) or what not in TABLES:
            raise ValueError(
                f"what: there is no export {what!r:.60}. {did_you_mean(str(what), TABLES)}"
            )
        table = TABLES[what]
        if snippets and not table.has_snippets:
            raise ValueError(f"snippets: {what} never has any")
        target = target_of(path)
        with self._open() as reader, following() as advance:
            form = formats.written_to(target, table, format)
            models = table.models(reader, model)
            request = ExportRequest(reader, models, snippets=snippets, advance=advance)
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
