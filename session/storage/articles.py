"""The articles read and their topics in each model, and those among them whose topics are inferred
again.

The tables are `articles` and `recent`; the proportions of articles are in `proportions.py`.
"""

import heapq
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from math import sqrt
from sqlite3 import Connection
from struct import pack
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.records import ArticleRow, Count, PositiveCount, Role, Text
from wikitopics.session.settings import ModelSpec
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import MOST_BLOCKS, stored_block
from wikitopics.session.storage.database import ROLES, SMALL, largest_topic, select
from wikitopics.session.storage.decoding import numbers
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.session.storage.proportions import (
    BLOCK,
    IS_HELD_OUT,
    LARGEST_ARTICLE,
    OF_BLOCK,
    Proportions,
    RecordedArticles,
    insert_block,
)

LARGEST = np.dtype(">u2")
"""`articles.topics`: for each model in turn, the largest topic and its proportion in
ten-thousandths."""
LARGEST_RELEASED = np.dtype("<u2")
"""The same in a file of 1.0.0."""
RECENT_ARTICLES = 20_000
"""This many of the newest articles keep their counts and have their topics inferred again."""
DROPPED_EVERY = 2**18
"""After this many more articles have been trained, those that are not to be kept are dropped."""
MOST_ARTICLES = 1_000_000
"""The most articles of one answer; `all_articles` has no such bound."""
_TITLE = "CASE title WHEN '' THEN 'document ' || page_id ELSE title END"
"""An article's title: documents of a file of word counts have only numbers."""
_TITLED = r"(title LIKE ?1 ESCAPE '\' OR title = '' AND 'document ' || page_id LIKE ?1 ESCAPE '\')"
"""Whether that title is LIKE the first parameter. This form is a third faster than the plain one if
articles have titles."""
_AT_ONCE = 1000
_MOST_ALIKE = 5000
_LARGEST_ROW = 2**18
"""The most bytes of an article's row: a title is at most a quarter of it."""
_MOST_RANKED = 5_000
"""At most this many articles are ranked for a topic: those with the largest proportions."""
_ABOUT_TOPIC = "WHERE {0} BETWEEN ? AND ? AND role = 0 ORDER BY {0} DESC, seq DESC LIMIT ?"
_ABOUT_TOPIC_RELEASED = (
    "JOIN article_topics t USING (seq) WHERE t.model = ? AND t.topic = ? ORDER BY {0} DESC, seq "
    "DESC LIMIT ?"
)
"""The articles with a topic as their largest, and the same in a file of 1.0.0."""
_ROW = {
    "seq": PositiveCount,
    "page_id": int,
    f"{_TITLE} AS title": Text,
    "revision_id": int,
    "words": Count,
    "role": Literal[0, 1, 2],
    "topics": Any,
    "id": Text | None,
}
Columns = tuple[Sequence[Any], ...]
"""Articles by column, for callers that read millions; () if there are none.

The fields of `ArticleRow`, except that topics are two columns: each model's largest topic, and its
proportion.
"""


@dataclass(frozen=True, slots=True)
class ArticleTopics:
    """The topics of ``n`` articles, as far as a session stores them."""

    largest: NDArray[np.uint16]
    """(n, 2 x models): for each model the largest topic, and its proportion in ten-thousandths"""
    proportions: Sequence[Proportions] = ()
    """For each model; none if the session stores none."""

    @staticmethod
    def of(
        thetas: Sequence[NDArray[np.floating[Any]]], *, with_proportions: bool = False
    ) -> "ArticleTopics":
        """From each model's proportions, (n, K)."""
        columns: list[NDArray[Any]] = []
        for theta in thetas:
            columns += [
                theta.argmax(axis=1),
                np.rint(theta.max(axis=1).astype(np.float64) * 10_000),
            ]
        proportions = [Proportions.of(theta) for theta in thetas] if with_proportions else ()
        return ArticleTopics(np.column_stack(columns).astype(LARGEST), proportions)


def insert_articles(
    db: Connection,
    block: Block,
    role: Role,
    topics: ArticleTopics | None,
    seqs: Iterable[int],
) -> None:
    """Add articles with these numbers; ``topics``: theirs, if they were trained."""
    n = len(block)
    db.executemany(
        "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        zip(
            seqs,
            block.page_ids.tolist(),
            block.titles,
            block.revision_ids.tolist(),
            block.words.tolist(),
            [ROLES.index(role)] * n,
            [None] * n if topics is None else [row.tobytes() for row in topics.largest],
            block.ids or [None] * n,
            strict=True,
        ),
    )


def insert_recent(db: Connection, rows: Sequence[dict[str, object]]) -> None:
    """Store the counts of trained articles, and drop those no longer among the newest."""
    db.executemany("INSERT INTO recent VALUES (:first_seq, :articles, :documents)", rows)
    # The articles after a row are counted, not derived from its number: any number of skipped ones
    # may lie in between.
    db.execute(
        "DELETE FROM recent WHERE first_seq IN (SELECT first_seq FROM (SELECT first_seq, "
        "sum(articles) OVER (ORDER BY first_seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 "
        "PRECEDING) AS newer FROM recent) WHERE newer >= ?)",
        [RECENT_ARTICLES],
    )


def renew_topics(db: Connection, seqs: Sequence[int], topics: ArticleTopics) -> None:
    """Replace the topics of the articles ``seqs`` with the models' current ones.

    Articles dropped meanwhile stay dropped.
    """
    rows = [(row.tobytes(), seq) for row, seq in zip(topics.largest, seqs, strict=True)]
    db.executemany("UPDATE articles SET topics = ? WHERE seq = ?", rows)


def insert_held_out_topics(db: Connection, block: Block, topics: ArticleTopics, most: int) -> None:
    """Add the topics of all held-out articles, in the order of the stream; ``most``: the most
    articles in a row of `blocks`."""
    rows = db.execute("SELECT seq FROM articles WHERE role = 1 ORDER BY seq").fetchall()
    seqs = [seq for (seq,) in rows]
    if len(seqs) != len(block):
        raise Damaged("held_out and articles do not match")
    renew_topics(db, seqs, topics)
    start = 0
    for stop in range(1, len(seqs) + 1):
        if stop == len(seqs) or stop - start == most or seqs[stop] != seqs[stop - 1] + 1:
            if topics.proportions:
                parts = [of_model[start:stop] for of_model in topics.proportions]
                insert_block(db, block[start:stop], parts, seqs[start])
            start = stop


def drop_held_out_topics(db: Connection) -> None:
    """Remove the topics of held-out articles."""
    for table in ("proportions", "blocks"):
        db.execute(f"DELETE FROM {table} AS b WHERE {IS_HELD_OUT}")
    db.execute("UPDATE articles SET topics = NULL WHERE role = 1 AND topics IS NOT NULL")


def replace_articles(
    db: Connection,
    block: Block,
    topics: ArticleTopics,
    seqs: Sequence[int],
) -> None:
    """Store trained articles with their current topics, even if they were dropped meanwhile."""
    db.executemany("DELETE FROM articles WHERE seq = ?", [(seq,) for seq in seqs])
    insert_articles(db, block, "trained", topics, seqs)


def recent_row(block: Block, first_seq: int) -> dict[str, object]:
    """A row of `recent`: the counts of the articles with the numbers from ``first_seq`` on."""
    nameless = replace(
        block, titles=("",) * len(block), ids=None
    )  # titles and ids are in `articles`
    return {"first_seq": first_seq, "articles": len(block), "documents": nameless.to_bytes()}


def keep_top(db: Connection, topics: Sequence[int], most: int) -> None:
    """Drop trained articles that are not among the ``most`` articles most about some topic of a
    model.

    ``topics``: the number of topics of each model.
    """
    best: set[int] = set()
    for model, K in enumerate(topics):
        for topic in range(K):
            best.update(most_about(partial(select, db), model, topic, most))
    db.execute(
        "DELETE FROM articles WHERE role = 0 AND seq NOT IN (SELECT value FROM json_each(?))",
        [json.dumps(sorted(best))],
    )


def most_about(
    select: Callable[..., list[Any]],
    model: int,
    topic: int,
    limit: int,
    *,
    released: bool = False,
) -> list[int]:
    """The numbers of the trained articles with this largest topic, by descending proportion times
    the square
    root of the number of words: in an article of ten words, a proportion of 1 may be chance.

    ``released``: whether the file is one of 1.0.0.
    """
    largest: str = "t.proportion" if released else largest_topic(model)
    clause, kind = _ABOUT_TOPIC_RELEASED if released else _ABOUT_TOPIC, int if released else bytes
    parameters = (model, topic) if released else (pack(">HH", topic, 0), pack(">HH", topic, 10_000))
    columns = {"seq": PositiveCount, "words": Count, largest: kind}
    rows = select("articles", columns, clause.format(largest), [*parameters, _MOST_RANKED])

    def weight(row: tuple[int, int, Any]) -> float:
        part = row[2] if released else int.from_bytes(row[2][2:], "big")
        return float(part * sqrt(row[1]))

    return [seq for seq, *_ in heapq.nlargest(limit, rows, key=weight)]


class ArticleReader(OpenedSession):
    """Questions about articles, and about the proportions of all of them at once."""

    def recent_articles(self, limit: int = 50, up_to: int | None = None) -> list[ArticleRow]:
        """The newest articles, newest first; ``up_to``: from this number (`seq`) down."""
        where, bound = ("WHERE seq <= ?", [up_to]) if up_to is not None else ("", [])
        return self._articles(f"{where} ORDER BY seq DESC LIMIT ?", [*bound, limit])

    def trained_as(self, number: int) -> int | None:
        """The `seq` of the article that was trained as the ``number``-th; None if not all are
        kept."""
        if self.settings().as_json().get("keep_articles", "all") != "all":
            return None
        row = (
            f"SELECT seq FROM articles WHERE role = {ROLES.index('trained')} ORDER BY seq LIMIT 1 "
            "OFFSET ?"
        )
        return next((seq for (seq,) in self._rows(row, [number - 1])), None) if number > 0 else None

    def find_articles(self, sought: str, limit: int = 50) -> list[ArticleRow]:
        """Articles with ``sought`` in the title, newest first."""
        return self._articles(
            f"WHERE {_TITLED} ORDER BY seq DESC LIMIT ?2", [f"%{_escaped(sought)}%", limit]
        )

    def numbered(self, seqs: Iterable[int]) -> dict[int, ArticleRow]:
        """Those articles of these numbers (`seq`) that exist."""
        wanted, rows = list(seqs), []
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            rows += self._articles(f"WHERE seq IN ({', '.join('?' * len(some))})", some)
        return {row.seq: row for row in rows}

    def resembling(self, title: str) -> list[ArticleRow]:
        """Articles whose title may be meant by a mistyped one: half of it, or its longest word,
        matches."""
        title = title.encode(
            "utf-8", "replace"
        ).decode()  # a command line may have bytes that are no text
        middle, longest = (len(title) + 1) // 2, max(title.split(), key=len, default="")
        beginning, end, word = map(_escaped, (title[:middle], title[middle:], longest))
        patterns = [f"{beginning}%", f"%{end}", f"%{word}%"]
        tried = " OR ".join([f"{_TITLE} LIKE ? ESCAPE '\\'"] * len(patterns))
        return self._articles(f"WHERE {tried} LIMIT {_MOST_ALIKE}", patterns)

    def articles_about(self, model: str, topic: int, limit: int = 20) -> list[ArticleRow]:
        """The trained articles with this largest topic, in the order of `most_about`."""
        with self.one_moment():
            number, released = self._number(model), self._is_of_1_0()
            seqs = most_about(self.select, number, topic, limit, released=released)
            of_number = self.numbered(seqs)
        rows = [of_number[seq] for seq in seqs]
        if any(
            (model, topic) not in [largest[:2] for largest in article.topics] for article in rows
        ):
            raise Damaged("the order by topic and articles do not match")
        return rows

    def all_articles(self, *, trained_only: bool) -> Iterator[Columns]:
        """The stream in its order, by column, in batches of bounded memory."""
        last, only = 0, "AND role = 0" if trained_only else ""
        while columns := self._columns(
            f"WHERE seq > ? {only} ORDER BY seq LIMIT {_AT_ONCE}", [last]
        ):
            yield columns
            last = columns[0][-1]

    def trained_among(self, page_ids: Sequence[int]) -> tuple[frozenset[int], bool]:
        """(those of these pages that the session is known to have trained on, whether all that it
        trained on are known). They are not if it keeps only the articles most about a topic, or
        none."""
        trained = f"FROM articles WHERE role = {ROLES.index('trained')}"
        ((stored,),) = self._rows(f"SELECT count(*) {trained}")
        wanted = json.dumps(list(page_ids))
        known = f"SELECT DISTINCT page_id {trained} AND page_id IN (SELECT value FROM json_each(?))"
        room = SMALL + len(wanted)  # the limit applies to parameters, too
        rows = self._rows(known, [wanted], largest=room, most=len(page_ids))
        return frozenset(page for (page,) in rows), stored >= self.progress().documents

    def last_page_id(self) -> int:
        """The largest page id; 0 if there are no articles."""
        (row,) = self.select("articles", {"max(page_id)": int | None})
        return row[0] or 0

    def known_ids(self, last: int) -> frozenset[str]:
        """The articles' own ids, up to this page id."""
        known: set[str] = set()
        for _, pages, *_, ids in self.all_articles(trained_only=False):
            known.update(one for page, one in zip(pages, ids, strict=True) if one and page <= last)
        return frozenset(known)

    def has_ids(self) -> bool:
        """Whether the source's articles have ids of their own."""
        rows = self._rows("SELECT id FROM articles LIMIT 1")
        return bool(rows) and rows[0][0] is not None

    def recent(self, first_seq: int, most: int, before: int) -> tuple[list[int], Block]:
        """Up to ``most`` of the newest trained articles from number ``first_seq`` on, and their
        numbers.

        Only those of minibatches that began before ``before`` articles had been trained.
        """
        seqs: list[int] = []
        parts: list[Block] = []
        rows = self.select(
            "(SELECT first_seq, articles, sum(articles) OVER (ORDER BY first_seq DESC) AS newest "
            "FROM recent) recent",
            {"first_seq": PositiveCount, "articles": Any},
            "WHERE first_seq + articles > ? AND newest > ? ORDER BY first_seq",
            [first_seq, self.progress().articles - before],
        )
        for first, articles in rows:
            if len(seqs) == most:
                break
            block = stored_block(self, "recent", "first_seq", first, articles)
            start = max(0, first_seq - first)
            part = block[start : start + most - len(seqs)]
            parts.append(part)
            seqs += range(first + start, first + start + len(part))
        return seqs, Block.concatenate(parts)

    def check_proportions(self) -> None:
        """Raise `SessionError` if no article's proportions are recorded, and say why."""
        if self._rows("SELECT 1 FROM blocks LIMIT 1"):
            return
        if self.settings()[KEEP_ARTICLES] != "all":
            raise SessionError(
                "topic proportions are not recorded: that needs a session begun with "
                "--keep-articles all"
            )
        self.check_trained()
        raise Damaged("blocks has no row")

    def recorded_articles(self, *, held_out: bool = False) -> RecordedArticles:
        """All trained articles whose proportions are recorded; ``held_out``: including those held
        out."""
        columns, room = {**BLOCK, "page_ids": Any, "titles": Any}, self._room(8)
        clause = f"b {_where(held_out)} ORDER BY first_seq"
        rows = self.select("blocks", columns, clause, largest=room, most=MOST_BLOCKS)
        firsts, sizes = (np.array([row[column] for row in rows], np.int64) for column in (0, 1))
        if (firsts[1:] < firsts[:-1] + sizes[:-1]).any():
            raise Damaged("blocks.articles is out of range")
        titles = [row[3] for row in rows]
        if [isinstance(keys, bytes) and len(keys) for keys in titles] != (2 * sizes).tolist():
            raise Damaged("blocks.titles has the wrong length")
        page_ids = [np.empty(0, np.int64)]
        for _, articles, packed, _ in rows:
            wide = isinstance(packed, bytes) and len(packed) == 8 * articles
            dtype = np.int64 if wide else np.int32
            page_ids.append(
                numbers(packed, "blocks.page_ids", dtype, (articles,), -(2**63), 2**63 - 1)
            )
        keys = np.frombuffer(b"".join(titles), "<u2")
        return RecordedArticles(firsts, np.cumsum(sizes) - sizes, np.concatenate(page_ids), keys)

    def proportions(self, model: str, *, held_out: bool = False) -> Proportions:
        """The proportions of all `recorded_articles` in one model."""
        joined = "b LEFT JOIN proportions p ON p.first_seq = b.first_seq AND p.model = ?"
        clause = f"{joined} {_where(held_out)} ORDER BY b.first_seq"
        columns, room = {"p.data": Any, "b.articles": PositiveCount}, self._room(LARGEST_ARTICLE)
        number = self._number(model)
        blocks = self.select("blocks", columns, clause, [number], largest=room, most=MOST_BLOCKS)
        return Proportions.from_blocks(blocks, self.spec(model).topics)

    def each_block(
        self, models: Sequence[str]
    ) -> Iterator[tuple[list[ArticleRow], list[Proportions]]]:
        """The articles of every block in the order of the stream, and their proportions in these
        models."""
        for first, size in self.select("blocks", BLOCK, "ORDER BY first_seq", most=MOST_BLOCKS):
            with self.one_moment():
                rows = self._articles(
                    "WHERE seq BETWEEN ? AND ? ORDER BY seq", [first, first + size - 1]
                )
                recorded = [self.proportions_of(model, first, size) for model in models]
            if len(rows) != size:
                raise Damaged("blocks and articles do not match")
            yield rows, recorded

    def proportions_of(self, model: str, first_seq: int, articles: int) -> Proportions:
        """The proportions of one block in one model."""
        key, room = [self._number(model), first_seq], self._room(LARGEST_ARTICLE)
        rows = self.select("proportions", {"data": Any}, OF_BLOCK, key, largest=room)
        blocks = [(data, articles) for (data,) in rows or [(None,)]]
        return Proportions.from_blocks(blocks, self.spec(model).topics)

    def leading_topics(
        self,
        model: str,
        seqs: Collection[int],
        most: int,
    ) -> dict[int, list[tuple[int, float]]]:
        """The ``most`` largest (topic, proportion) of these articles, as far as they are
        recorded."""
        leading: dict[int, list[tuple[int, float]]] = {}
        first, articles, block = 0, 0, None
        for seq in sorted(seqs):
            if not first <= seq < first + articles:
                last_before = "WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1"
                rows = self.select("blocks", BLOCK, last_before, [seq])
                first, articles = rows[0] if rows else (0, 0)
                if seq >= first + articles:
                    continue
                block = self.proportions_of(model, first, articles)
            assert block is not None
            leading[seq] = block.largest(seq - first)[:most]
        return leading

    def _room(self, of_an_article: int) -> int:
        return SMALL + of_an_article * self.settings().batch_size

    def _articles(self, clause: str, parameters: Sequence[object]) -> list[ArticleRow]:
        if not (columns := self._columns(clause, parameters)):
            return []
        *plain, topics, shares, ids = columns
        largest = map(tuple, map(zip, repeat(self.models()), topics, shares))
        return list(map(ArticleRow, *plain, largest, ids))

    def _columns(self, clause: str, parameters: Sequence[object]) -> Columns:
        with self.one_moment():
            rows = self.select(
                "articles",
                _ROW,
                clause,
                parameters,
                largest=_LARGEST_ROW,
                most=MOST_ARTICLES,
            )
            dtype = LARGEST_RELEASED if self._is_of_1_0() else LARGEST
        if not rows:
            return ()
        *plain, roles, packed, ids = zip(*rows, strict=True)
        largest = _decode_largest(packed, self.settings().models, dtype)
        return (*plain, [ROLES[role] for role in roles], *largest, ids)


def _where(held_out: bool) -> str:
    """SQL for the rows of `blocks`, named b, with or without held-out articles."""
    return "" if held_out else f"WHERE NOT {IS_HELD_OUT}"


def _decode_largest(
    packed: Sequence[object], models: Sequence[ModelSpec], dtype: np.dtype[Any]
) -> tuple[list[list[int]], list[list[float]]]:
    """Each model's largest topic, and its proportion, from `articles.topics`; empty for a NULL."""
    trained = [one for one in packed if one is not None]
    size = 2 * dtype.itemsize * len(models)
    if not all(isinstance(one, bytes) and len(one) == size for one in trained):
        raise Damaged("articles.topics has the wrong length")
    stored = b"".join(trained)  # type: ignore[arg-type]
    pairs = np.frombuffer(stored, dtype).reshape(len(trained), len(models), 2)
    topics, shares = pairs[:, :, 0], pairs[:, :, 1]
    if (topics >= [model.topics for model in models]).any() or (shares > 10_000).any():
        raise Damaged("articles.topics is out of range")
    each_trained = iter(zip(topics.tolist(), (shares / 10_000).tolist(), strict=True))
    each = [([], []) if one is None else next(each_trained) for one in packed]
    return [topic for topic, _ in each], [share for _, share in each]


def _escaped(text: str) -> str:
    """The text escaped for a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
