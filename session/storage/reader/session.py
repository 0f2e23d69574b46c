"""Reading the session file for the screen, `status` and the exports. Never changes anything."""

from typing import Any

import numpy as np

from wikitopics.session.records import Curve, Event, Flow, PastRun, Status
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.codec.log import decode_event, decode_flow, decode_run
from wikitopics.session.storage.codec.measurements import decode_measurement
from wikitopics.session.storage.database import session_errors
from wikitopics.session.storage.decoding import text, whole
from wikitopics.session.storage.reader.articles import ArticleReader
from wikitopics.session.storage.reader.proportions import ProportionReader
from wikitopics.session.storage.reader.status import status_of
from wikitopics.session.storage.reader.topics import TopicReader
from wikitopics.session.storage.tables import read_held_out

MOST_MEASUREMENTS = 500_000
_STORED = "metric <> 'perplexity'"
"""Leaves out the perplexity that 1.0.0 stored too: it follows from the log-likelihood."""


class SessionReader(TopicReader, ArticleReader, ProportionReader):
    """Everything that can be asked of a session: its state, curves, log, topics and articles."""

    def status(self) -> Status:
        """One look at the session as it is now; raises `NoSession` if its file was replaced."""
        return status_of(self)

    def held_out(self) -> Block:
        """The held-out articles so far."""
        settings, n_words = self.settings(), len(self.vocabulary())
        with session_errors(self.path):
            return read_held_out(self._connection, settings, n_words)

    def curve(self, model: str, metric: str) -> Curve:
        """One metric of one model over the stream."""
        rows = self._rows(
            "SELECT articles, tokens, seconds, value FROM metrics WHERE model = ? AND metric = ?"
            " ORDER BY articles",
            [self._number(model), "log_likelihood" if metric == "perplexity" else metric],
        )
        found = [decode_measurement(row) for row in rows]
        columns = zip(*found, strict=True) if found else ((), (), (), ())
        articles, tokens, seconds, values = (np.array(column, np.float64) for column in columns)
        return Curve(articles, tokens, seconds, _perplexity(values) if metric == "perplexity" else values)

    def newest(self) -> tuple[int, int]:
        """A number each for the measurements and the snapshots, which changes whenever one is added."""
        ((measurement, snapshot),) = self._rows(
            "SELECT (SELECT max(rowid) FROM metrics), (SELECT max(rowid) FROM snapshots)"
        )
        return whole(measurement or 0, "metrics.rowid"), whole(snapshot or 0, "snapshots.rowid")

    def all_metrics(self) -> list[tuple[str, int, int, float, str, float]]:
        """The measurements: (model, articles, tokens, seconds, metric, value), by model, then articles."""
        rows = self._rows(
            f"SELECT model, metric, articles, tokens, seconds, value FROM metrics WHERE {_STORED}"
            " ORDER BY model, articles",
            most=MOST_MEASUREMENTS,
        )
        names, found = self.models(), []
        for number, metric, *measurement in rows:
            model = whole(number, "metrics.model", 0, len(names) - 1)
            articles, tokens, seconds, value = decode_measurement(tuple(measurement))
            found.append((model, articles, text(metric, "metrics.metric"), tokens, seconds, value))
            if metric == "log_likelihood":
                found.append((model, articles, "perplexity", tokens, seconds, float(_perplexity(value))))
        found.sort(key=lambda row: row[:3])
        return [
            (names[model], at, tokens, seconds, metric, value)
            for model, at, metric, tokens, seconds, value in found
        ]

    def metric_names(self) -> list[str]:
        """The metrics measured for any model, in alphabetical order."""
        rows = self._rows(f"SELECT DISTINCT metric FROM metrics WHERE {_STORED}")
        found = {text(metric, "metrics.metric") for (metric,) in rows}
        return sorted(found | ({"perplexity"} if "log_likelihood" in found else set()))

    def flow(self) -> list[Flow]:
        """The newest rates, oldest first."""
        rows = self._rows("SELECT at, crawl_rate, train_rate, queue FROM flow ORDER BY id")
        return [decode_flow(row) for row in rows]

    def events(self, limit: int = 200, until: float | None = None) -> list[Event]:
        """The newest lines of the log, oldest first; ``until``: only those up to then, in seconds since
        the epoch."""
        where, bound = ("WHERE at <= ?", [until]) if until is not None else ("", [])
        query = f"SELECT at, level, message FROM events {where} ORDER BY id DESC LIMIT ?"
        rows = self._rows(query, [*bound, limit])
        return [decode_event(row) for row in reversed(rows)]

    def runs(self) -> list[PastRun]:
        """Every run of a trainer on this session, oldest first."""
        rows = self._rows("SELECT started_at, ended_at, first_article, reason FROM runs ORDER BY id")
        return [decode_run(row) for row in rows]


def _perplexity(log_likelihood: Any) -> Any:
    """As numpy computes it, in the last digit too: 1.0.0 stored these numbers."""
    return np.exp(-log_likelihood)
