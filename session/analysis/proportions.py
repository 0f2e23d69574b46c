"""Topic proportions of texts and articles by a session's models, and similar articles."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.licence import Licence
from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.texts.kind import BEFORE, MARKUP
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.relevance import by_relevance
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, Damaged, SessionError, errors_of
from wikitopics.session.options import LINKS
from wikitopics.session.records import SNAPSHOT_WORDS, ArticleRow
from wikitopics.session.settings import Settings, load_model
from wikitopics.session.sources import NOTEBOOK, described, noun
from wikitopics.session.storage.counts import Counted
from wikitopics.session.storage.proportions import title_key
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.vocabulary import VocabularyError

if TYPE_CHECKING:
    from pandas import DataFrame, Index
    from scipy.sparse import csr_array

    from wikitopics.session.analysis.topics import Topic


# Inference with a session's models: topic proportions of any text, and every word of the topics.

_ANCHOR = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
"""A tag that no wikitext has."""
_NONE = np.empty(0, np.int32)


def saved_model(reader: SessionReader, name: str) -> OnlineModel:
    """The model of this name at the last commit."""
    return load_model(reader.model_state(name), reader.model_status(name), len(reader.vocabulary()))


def proses(reader: SessionReader, texts: Iterable[str], markup: Markup | None = None) -> list[str]:
    """The texts without markup; ``markup`` None: in the session's own format. For a session that
    counts links, the titles that they link to."""
    if reader.settings().rule == LINKS:
        # On a wiki whose titles begin with capitals, all of the vocabulary's do.
        info = SourceInfo(
            "", None, keeps_case=any(title[0] in ascii_lowercase for title in reader.vocabulary())
        )
        marked = (
            (text, markup or ("html" if _ANCHOR.search(text) else "wikitext")) for text in texts
        )
        return ["\n".join(page_links(Page(1, "", 0, *one), info)) for one in marked]
    named: Markup = markup or reader.settings().source_options.get(MARKUP.name, "text")
    return [prose(Page(1, "", 0, text, named)) for text in texts]


def words_of(vocabulary: Vocabulary, texts: Iterable[str]) -> list[Counted]:
    """The known words of each text. Raises `BadUsage` if nothing here separates the words of its
    language."""
    try:
        return [*map(vocabulary.count, texts)]
    except VocabularyError as error:
        raise BadUsage(str(error)) from None


def proportions(
    reader: SessionReader,
    model: str,
    vocabulary: Vocabulary,
    texts: Iterable[str],
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The known words of each text, (D,), and its proportions by this model at the last commit, (D,
    K)."""
    counted = words_of(vocabulary, texts)
    reader.check_trained()
    theta = theta_of(saved_model(reader, model), counted)
    return np.array([counts.sum() for _, counts in counted], np.int64), theta


def theta_of(model: OnlineModel, counted: Sequence[Counted]) -> NDArray[np.float32]:
    """(D, K) the proportions by this model of texts whose words are ``counted``. Raises
    `SessionError`."""
    # Empty arrays come first, in case there are no texts.
    ids, counts = (np.concatenate(arrays) for arrays in zip((_NONE, _NONE), *counted, strict=True))
    batch = Minibatch(np.cumsum([0, *(len(one) for one, _ in counted)]), ids, counts)
    with errors_of(f"the model of kind {model.kind}", ""):
        theta = model.infer(batch)
    # All numbers of a damaged model may be finite while its results are not.
    if not np.isfinite(theta).all():
        raise Damaged(f"the model of kind {model.kind} has no proportions")
    return theta


def top_words(
    reader: SessionReader,
    model: str,
    top: int,
    *,
    relevant: bool,
) -> list[list[tuple[str, float]]]:
    """The ``top`` most probable words of every topic of this model at the last commit: (word,
    probability);
    ``relevant``: with the most relevant of these first.

    If snapshots store enough words, the words come from the newest one, and the model is not
    loaded.
    """
    if top <= SNAPSHOT_WORDS:
        return [list(row.words) for row in reader.topics(model, top, relevant=relevant)]
    reader.check_trained()
    words, saved = reader.vocabulary(), saved_model(reader, model)
    leading = saved.top_words(top)
    topics = zip(
        *(by_relevance(leading, saved.topic_shares()) if relevant else leading), strict=True
    )
    return [
        [
            (words[i], probability)
            for i, probability in zip(ids.tolist(), values.tolist(), strict=True)
        ]
        for ids, values in topics
    ]


# Where a session's texts come from: the address of each article in a browser, and the licence.

Address = Callable[[ArticleRow], str | None]

_SOUND = re.compile(r"https?://[A-Za-z0-9\[][A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]{0,4000}")
"""Only such addresses reach a terminal or a browser: without control characters, quotes or spaces,
and with no other scheme."""


def addresses(settings: Settings) -> Address:
    """The address of each article, as the kind of source gives it for a session with these
    settings."""
    kind, identity = sources.described(settings.source), settings.source_options
    is_sound = not kind.fault(identity)

    def address(article: ArticleRow) -> str | None:
        link = kind.address(identity, article.title, article.revision_id) if is_sound else None
        return link if link is not None and _SOUND.fullmatch(link) else None

    return address


def licence_of(settings: Settings) -> Licence | None:
    """The licence of titles and word counts, as the kind of source states it; None if there is
    none, as for the user's own documents."""
    kind, identity = sources.described(settings.source), settings.source_options
    return None if kind.fault(identity) else kind.licence(identity)


@dataclass(frozen=True, slots=True)
class Article:
    """An article of the stream, with its largest topic in one model."""

    page_id: int
    title: str
    revision_id: int
    words: int
    """Its words that are in the vocabulary, repetitions included."""
    role: str
    """trained, held_out or skipped."""
    topic: int | None
    """Its largest topic; None if it was skipped, or is held out (see
    `StoredSession.proportions`)."""
    proportion: float | None
    """The proportion of `topic` in the article."""
    id: str | None = None
    """Its id in its own collection, "" if it has none; None if the source has no ids at all."""
    url: str | None = None
    """The address of the text that was read; None if it is not known."""


def listed_articles(
    reader: SessionReader,
    model: str,
    topic: int | None,
    limit: int,
) -> list[Article]:
    """The articles most about a topic of this model; for ``topic`` None, the newest ones, of any
    role."""
    if topic is None:
        rows = reader.recent_articles(limit)
    else:
        reader.check_topic(model, topic)
        rows = reader.articles_about(model, topic, limit)
    address, articles = addresses(reader.settings()), []
    for row in rows:
        of_model = ((topic, share) for name, topic, share in row.topics if name == model)
        largest: tuple[int | None, float | None] = next(of_model, (None, None))
        words = row.page_id, row.title, row.revision_id, row.words
        articles.append(Article(*words, row.role, *largest, row.id, address(row)))
    return articles


_DTYPES = re.compile(
    r"u?int(8|16|32|64)|U?Int64|float(32|64)|str|string|object"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, (?!dateutil)[\w/+:-]{1,40})?\]"
)
"""Types of an index that can be restored from text. For a dateutil time zone, pandas would open any
file."""
_LONGEST = 255
"""The most characters of a mistyped title that are compared."""
_TOGETHER = 2048
"""The number of articles compared at a time, so that their data fit the processor's cache."""


def as_csr(
    reader: SessionReader, model: str, *, held_out: bool = False
) -> "tuple[csr_array, NDArray[np.int64]]":
    """((D, K) float32, page ids of its rows) of the trained articles whose proportions are
    recorded;
    ``held_out``: including those held out.

    Raises `SessionError` if none are.
    """
    from scipy.sparse import csr_array  # takes as long to load as all the rest

    with reader.one_moment():
        reader.check_proportions()
        articles = reader.recorded_articles(held_out=held_out)
        recorded = reader.proportions(model, held_out=held_out)
    indptr = recorded.indptr()
    small = np.int32 if indptr[-1] < 2**31 else np.int64
    matrix = csr_array(
        (recorded.values(), recorded.topics.astype(small), indptr.astype(small)),
        shape=(len(recorded), reader.spec(model).topics),
    )
    return matrix, articles.page_ids


def as_frame(reader: SessionReader, model: str, *, held_out: bool = False) -> "DataFrame":
    """The result of `as_csr` as a table: a column for each topic, a row for each article.

    Of the user's own documents, every one that was read has a row, in the order of the input; the
    row is empty if the document has no proportions. The index is the one that a pandas Series had,
    otherwise `id` if every article has one, otherwise `page_id`. Raises `BadUsage` without pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("proportions(frame=True)")) from None
    with reader.one_moment():
        matrix, page_ids = as_csr(reader, model, held_out=held_out)
        own = described(reader.settings().source).own
        named: dict[int, str] = {}
        if own or reader.has_ids():
            for _, pages, *_, ids in reader.all_articles(trained_only=not (own or held_out)):
                named.update(zip(pages, ids, strict=True))
        kept = reader.index()
        is_added = BEFORE in reader.settings().source_options
    frame = pd.DataFrame(
        matrix.toarray(), index=page_ids, columns=pd.RangeIndex(matrix.shape[1], name="topic")
    )
    if own:
        frame = frame.reindex(sorted(named))
    labels = [named.get(page) or "" for page in frame.index.tolist()]
    if (kept is None or is_added) and not all(labels):
        return frame.rename_axis("page_id")
    try:
        frame.index = _index(labels, *kept) if kept is not None else pd.Index(labels, name="id")
    except (TypeError, ValueError, OverflowError):
        if not is_added:  # documents that were added may have other ids
            raise Damaged("settings.index does not fit articles.id") from None
        frame.index = pd.Index(labels, name="id")
    return frame


def largest_topics(frame: "DataFrame", topics: Sequence["Topic"]) -> "DataFrame":
    """The largest topic of each row of such a table; `topics` by number. An empty row stays
    empty."""
    import pandas as pd

    known = frame.notna().any(axis="columns")
    theta = frame[known].to_numpy()
    largest = theta.argmax(axis=1) if len(theta) else np.zeros(0, np.intp)
    chosen = [topics[number] for number in largest.tolist()]
    columns = {
        "topic": pd.array(largest, dtype="Int64"),
        "name": [topic.name for topic in chosen],
        "share": theta.max(axis=1) if len(theta) else [],
        "area": pd.array([topic.area for topic in chosen], dtype="Int64"),
        "area_name": [topic.area_name for topic in chosen],
    }
    # By position: labels may repeat.
    return (
        pd.DataFrame(columns, index=np.flatnonzero(known))
        .reindex(range(len(frame)))
        .set_axis(frame.index)
    )


def as_kept(index: "Index") -> dict[str, object] | None:
    """What a session must store to restore this pandas index from its labels as text; None if that
    is impossible."""
    try:
        again = _index([str(label) for label in index], index.name, str(index.dtype))
        is_the_same = isinstance(index.name, str | int | None) and again.equals(index)
    except (TypeError, ValueError):
        return None
    return {"name": index.name, "dtype": str(index.dtype)} if is_the_same else None


def _index(labels: Sequence[str], name: str | int | None, dtype: str) -> "Index":
    """The index with these labels. Raises ValueError or TypeError."""
    import pandas as pd

    if not _DTYPES.fullmatch(
        dtype
    ):  # a file that somebody else made could ask for any amount of memory
        raise ValueError(dtype)
    return pd.Index(labels, name=name).astype(dtype)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An article, and its distance from what was asked for."""

    page_id: int
    title: str
    distance: float
    """The Hellinger distance: 0 for equal proportions, 1 for nothing in common."""
    id: str | None = None
    """Its id in its own collection; None: the source has no ids."""


class Recorded:
    """All articles of a session whose proportions in one model are recorded, for repeated
    questions.

    Takes 10 to 40 bytes per article. The part of an article's proportions that was not recorded
    counts as spread evenly over its other topics. Raises `SessionError` if none are recorded.
    """

    def __init__(self, reader: SessionReader, model: str) -> None:
        with reader.one_moment():
            reader.check_proportions()
            self.as_of = reader.progress()
            self.articles = reader.recorded_articles(held_out=True)
            self._kept = reader.proportions(model, held_out=True)
        self.model = model
        self._n_topics = reader.spec(model).topics
        self._starts = self._kept.indptr()
        values = self._kept.values()
        sums = np.add.reduceat(values, self._starts[:-1])
        others = self._n_topics - self._kept.lengths.astype(np.int64)
        rest = np.where(others > 0, np.maximum(1 - sums, 0) / np.maximum(others, 1), 0)
        self._rest = np.sqrt(rest, dtype=np.float32)
        """(n,) the square root of the proportion of each topic that was not recorded."""
        self._above = np.sqrt(values, out=values)
        """By how much the square root of each recorded proportion exceeds that of an unrecorded
        one."""
        self._above -= np.repeat(self._rest, self._kept.lengths)
        self._total = np.where(others > 0, np.float32(1), np.sqrt(sums))

    def __len__(self) -> int:
        return len(self._kept)

    def theta(self, row: int) -> NDArray[np.float64]:
        """(K,) the proportions of one article, which sum to 1."""
        one = self._kept[row : row + 1]
        theta = np.full(self._n_topics, float(self._rest[row]) ** 2)
        theta[one.topics] = one.values()
        theta /= theta.sum()
        return theta

    def distances(self, theta: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """(n,) the Hellinger distance of each article from the proportions ``theta``, (K,)."""
        roots = np.sqrt(theta).astype(np.float32)
        shared = self._rest * roots.sum()
        for start in range(0, len(self), _TOGETHER):
            stop = min(start + _TOGETHER, len(self))
            low, high = self._starts[start], self._starts[stop]
            # Indices are in range, as was checked when they were read; "clip" is numpy's quickest
            # mode.
            products = roots.take(self._kept.topics[low:high], mode="clip")
            products *= self._above[low:high]
            shared[start:stop] += np.add.reduceat(products, self._starts[start:stop] - low)
        distances: NDArray[np.float32] = np.sqrt(np.maximum(1 - shared / self._total, 0))
        return distances

    def row(self, seq: int) -> int | None:
        """The row of the article with this number; None: its proportions are not recorded."""
        seqs = self.articles.seqs(np.arange(len(self)))
        return next(iter(np.flatnonzero(seqs == seq).tolist()), None)

    def row_of(self, reader: SessionReader, title: str, *, exact: bool = False) -> int | None:
        """The row of the newest article with this title; ``exact``: capitals must match too."""
        rows = np.flatnonzero(self.articles.title_keys == title_key(title))
        numbers = dict(zip(self.articles.seqs(rows).tolist(), rows.tolist(), strict=True))
        named = [
            article
            for article in reader.numbered(numbers).values()
            if article.title == title
            or (not exact and article.title.casefold() == title.casefold())
        ]
        best = max(named, key=lambda article: (article.title == title, article.seq), default=None)
        return None if best is None else int(numbers[best.seq])

    def nearest(
        self,
        reader: SessionReader,
        to: NDArray[np.floating[Any]] | int,
        limit: int,
    ) -> list[Neighbour]:
        """The articles nearest to proportions, (K,), or to the article in this row, which is left
        out. The nearest come first; of an article with several readings, only the nearest is
        given."""
        of = (
            (self.theta(to), int(self.articles.page_ids[to])) if isinstance(to, int) else (to, None)
        )
        near = self.rows_near(reader, of[0], limit, of[1])
        return [Neighbour(row.page_id, row.title, distance, row.id) for row, distance, _ in near]

    def rows_near(
        self,
        reader: SessionReader,
        theta: NDArray[np.floating[Any]],
        limit: int,
        without: int | None = None,
    ) -> list[tuple[ArticleRow, float, list[tuple[int, float]]]]:
        """The articles nearest to proportions, without this page, with all that is stored of each:
        (article, distance, its (topic, proportion), the largest first)."""
        distances = self.distances(theta)
        rows = _nearest_pages(distances, self.articles.page_ids, limit, without)
        seqs = self.articles.seqs(rows).tolist()
        named, kept = reader.numbered(seqs), self._kept.take(rows)
        return [
            (named[seq], distance, kept.largest(place))
            for place, (seq, distance) in enumerate(
                zip(seqs, distances[rows].tolist(), strict=True)
            )
            if seq in named
        ]


def not_found(reader: SessionReader, title: str, *, or_file: bool = False) -> SessionError:
    """The error for a title that `row_of` does not find, with the nearest titles.

    ``or_file``: whether the name of a file was allowed too; then there is no such file.
    """
    alike = reader.resembling(title[:_LONGEST])
    same = [article for article in alike if article.title.casefold() == title.casefold()]
    source = reader.settings().source
    if same and same[0].role == "held_out" and described(source).own:
        return SessionError(
            f"{same[0].title!r} is held out: it gets topic proportions when training ends"
        )
    if same:
        why = "skipped" if same[0].role == "skipped" else "held out, not trained on"
        return SessionError(f"{same[0].title!r} was {why}: its topic proportions are not recorded")
    titles = {article.title.casefold(): article.title for article in alike if article.topics}
    near = difflib.get_close_matches(title.casefold(), titles, n=3)
    hint = f"; did you mean {' or '.join(repr(titles[one]) for one in near)}?" if near else ""
    file = ", and there is no such file" if or_file else ""
    return SessionError(f"no trained {noun(source)[:-1]} is called {title!r}{file}{hint}")


def _nearest_pages(
    distances: NDArray[np.float32],
    page_ids: NDArray[np.int64],
    limit: int,
    without: int | None,
) -> NDArray[np.intp]:
    """The rows of the ``limit`` nearest pages, each page once, the nearest first."""
    tried = limit + 1
    while True:
        tried = min(2 * tried, len(distances))
        rows = np.argpartition(distances, tried - 1)[:tried]
        rows = rows[np.lexsort((-rows, distances[rows]))]
        rows = rows[np.sort(np.unique(page_ids[rows], return_index=True)[1])]
        rows = rows[page_ids[rows] != without] if without is not None else rows
        if len(rows) >= limit or tried == len(distances):
            return rows[:limit]
