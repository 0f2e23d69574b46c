"""The articles read and their topics in each model: the tables `articles` and `recent`."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from struct import pack
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.records import ArticleRow, Count, PositiveCount, Role, Text
from wikitopics.session.settings import ModelSpec
from wikitopics.session.storage import released
from wikitopics.session.storage.counts import MOST_BLOCKS, Block, stored_block
from wikitopics.session.storage.database import ROLES, SMALL, Database, largest_topic
from wikitopics.session.storage.decoding import convert, numbers
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.session.storage.proportions import (
    BLOCK,
    IS_HELD_OUT,
    LARGEST_ARTICLE,
    OF_BLOCK,
    Proportions,
    RecordedArticles,
    drop_held_out,
    insert_block,
)

LARGEST = np.dtype(">u2")
"""`articles.topics`: a topic and ten-thousandths, for one model after another."""
RECENT_ARTICLES = 20_000
"""This many of the newest articles keep their counts and have their topics inferred again."""
DROPPED_EVERY = 2**18
"""Articles that should not be kept are dropped whenever this many more have been trained."""
MOST_ARTICLES = 1_000_000
"""The most articles of one answer; `all_articles` has no such bound."""
_TITLE = "CASE title WHEN '' THEN 'document ' || page_id ELSE title END"
"""An article's title: documents of a file of word counts have only numbers."""
_TITLED = r"(title LIKE ?1 ESCAPE '\' OR title = '' AND 'document ' || page_id LIKE ?1 ESCAPE '\')"
"""Whether that title is LIKE the first parameter; written so, it is a third faster if articles have
titles."""
_AT_ONCE = 1000
_MOST_ALIKE = 5000
_LARGEST_ROW = 2**18
"""The most bytes of an article's row: a title is at most a quarter of it."""
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
    def of(thetas: Sequence[NDArray[np.floating[Any]]], *, with_proportions: bool = False) -> "ArticleTopics":
        """From each model's proportions, (n, K)."""
        columns = [
            column
            for theta in thetas
            for column in (theta.argmax(axis=1), np.rint(theta.max(axis=1).astype(np.float64) * 10_000))
        ]
        return ArticleTopics(
            np.column_stack(columns).astype(LARGEST),
            [Proportions.of(theta) for theta in thetas] if with_proportions else (),
        )


def insert_articles(
    db: Database, block: Block, role: Role, topics: ArticleTopics | None, seqs: Iterable[int]
) -> None:
    """Add articles with these numbers; ``topics``: theirs, if they were trained."""
    n = len(block)
    db.conn.executemany(
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


def insert_recent(db: Database, rows: Sequence[dict[str, object]]) -> None:
    """Store the counts of trained articles, and drop those no longer among the newest."""
    db.table("recent").insert_all(rows)
    # Counts the articles after a row instead of comparing its number: how many skipped ones lie in between is
    # chance.
    db.execute(
        "DELETE FROM recent WHERE first_seq IN (SELECT first_seq FROM (SELECT first_seq, sum(articles) OVER"
        " (ORDER BY first_seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newer FROM recent)"
        " WHERE newer >= ?)",
        [RECENT_ARTICLES],
    )


def renew_topics(db: Database, seqs: Sequence[int], topics: ArticleTopics) -> None:
    """Replace the topics of the articles ``seqs`` with the models' current ones.

    Articles dropped meanwhile stay dropped.
    """
    db.conn.executemany(
        "UPDATE articles SET topics = ? WHERE seq = ?",
        [(row.tobytes(), seq) for row, seq in zip(topics.largest, seqs, strict=True)],
    )


def insert_held_out_topics(db: Database, block: Block, topics: ArticleTopics, most: int) -> None:
    """Add the topics of all held-out articles, in the order of the stream; ``most``: articles in a row of
    `blocks`."""
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


def drop_held_out_topics(db: Database) -> None:
    """Take the topics of held-out articles away again."""
    drop_held_out(db)
    db.execute("UPDATE articles SET topics = NULL WHERE role = 1 AND topics IS NOT NULL")


def replace_articles(db: Database, block: Block, topics: ArticleTopics, seqs: Sequence[int]) -> None:
    """Store trained articles with their present topics, whether or not they were dropped meanwhile."""
    db.conn.executemany("DELETE FROM articles WHERE seq = ?", [(seq,) for seq in seqs])
    insert_articles(db, block, "trained", topics, seqs)


def recent_row(block: Block, first_seq: int) -> dict[str, object]:
    """A row of `recent`: the counts of the articles with the numbers from ``first_seq`` on."""
    nameless = replace(block, titles=("",) * len(block), ids=None)  # they are in `articles`
    return {"first_seq": first_seq, "articles": len(block), "documents": nameless.to_bytes()}


def keep_top(db: Database, topics: Sequence[int], most: int) -> None:
    """Drop trained articles that are not among the ``most`` articles most about some topic of a model.

    ``topics``: the number of topics of each model.
    """
    kept: set[int] = set()
    for model, K in enumerate(topics):
        largest = largest_topic(model)
        for topic in range(K):
            rows = db.execute(
                f"SELECT seq FROM articles WHERE {largest} BETWEEN ? AND ?"
                f" ORDER BY {largest} DESC, seq LIMIT ?",
                [*largest_between(topic), most],
            )
            kept.update(seq for (seq,) in rows)
    db.execute(
        "DELETE FROM articles WHERE role = 0 AND seq NOT IN (SELECT value FROM json_each(?))",
        [json.dumps(sorted(kept))],
    )


def largest_between(topic: int) -> tuple[bytes, bytes]:
    """The bounds of a model's part of `articles.topics` for articles with this largest topic."""
    return pack(">HH", topic, 0), pack(">HH", topic, 10_000)


class ArticleReader(OpenedSession):
    """Questions about articles, and about the proportions of all of them at once."""

    def recent_articles(self, limit: int = 50, up_to: int | None = None) -> list[ArticleRow]:
        """Newest first; ``up_to``: from this number (`seq`) down."""
        where, bound = ("WHERE seq <= ?", [up_to]) if up_to is not None else ("", [])
        return self._articles(f"{where} ORDER BY seq DESC LIMIT ?", [*bound, limit])

    def find_articles(self, sought: str, limit: int = 50) -> list[ArticleRow]:
        """Articles with ``sought`` in the title, newest first."""
        return self._articles(f"WHERE {_TITLED} ORDER BY seq DESC LIMIT ?2", [f"%{_escaped(sought)}%", limit])

    def numbered(self, seqs: Iterable[int]) -> dict[int, ArticleRow]:
        """Those articles of these numbers (`seq`) that exist."""
        left, found = list(seqs), {}
        while left:
            now, left = left[:_AT_ONCE], left[_AT_ONCE:]
            rows = self._articles(f"WHERE seq IN ({', '.join('?' * len(now))})", now)
            found.update({row.seq: row for row in rows})
        return found

    def articles_of(self, first_seq: int, articles: int) -> list[ArticleRow]:
        """This many articles from this number on. Raises `Damaged` if one is missing."""
        found = self._articles(
            "WHERE seq BETWEEN ? AND ? ORDER BY seq", [first_seq, first_seq + articles - 1]
        )
        if len(found) != articles:
            raise Damaged("blocks and articles do not match")
        return found

    def resembling(self, title: str) -> list[ArticleRow]:
        """Articles whose title may be a mistyped one: half of it, or one word, matches."""
        title = title.encode("utf-8", "replace").decode()  # a command line may have bytes that are no text
        middle, longest = (len(title) + 1) // 2, max(title.split(), key=len, default="")
        beginning, end, word = map(_escaped, (title[:middle], title[middle:], longest))
        patterns = [f"{beginning}%", f"%{end}", f"%{word}%"]
        tried = " OR ".join([f"{_TITLE} LIKE ? ESCAPE '\\'"] * len(patterns))
        return self._articles(f"WHERE {tried} LIMIT {_MOST_ALIKE}", patterns)

    def articles_about(self, model: str, topic: int, limit: int = 20) -> list[ArticleRow]:
        """The trained articles with this largest topic, highest proportion first."""
        number = self._number(model)
        largest = largest_topic(number)
        with self.one_moment():
            if self._is_released():
                found = self._articles(released.ABOUT_TOPIC, [number, topic, limit])
            else:
                found = self._articles(
                    f"WHERE {largest} BETWEEN ? AND ? AND role = 0 ORDER BY {largest} DESC, seq DESC LIMIT ?",
                    [*largest_between(topic), limit],
                )
        if any((model, topic) not in [largest[:2] for largest in article.topics] for article in found):
            raise Damaged("the order by topic and articles do not match")
        return found

    def all_articles(self, *, trained_only: bool) -> Iterator[Columns]:
        """The stream in its order, by column, in batches of bounded memory."""
        last, only = 0, "AND role = 0" if trained_only else ""
        while found := self._columns(f"WHERE seq > ? {only} ORDER BY seq LIMIT {_AT_ONCE}", [last]):
            yield found
            last = found[0][-1]

    def trained_among(self, page_ids: Sequence[int]) -> tuple[frozenset[int], bool]:
        """Which of these pages it is known to have trained on, and whether all that it trained on are
        known. They are not if the session keeps only the articles most about a topic, or none."""
        trained = f"FROM articles WHERE role = {ROLES.index('trained')}"
        ((kept,),) = self._rows(f"SELECT count(*) {trained}")
        wanted = json.dumps(list(page_ids))
        rows = self._rows(
            f"SELECT DISTINCT page_id {trained} AND page_id IN (SELECT value FROM json_each(?))",
            [wanted],
            largest=SMALL + len(wanted),  # a limit of what is asked, too
            most=len(page_ids),
        )
        return frozenset(page for (page,) in rows), kept >= self.progress().documents

    def has_ids(self) -> bool:
        """Whether the source's articles have ids of their own."""
        rows = self._rows("SELECT id FROM articles LIMIT 1")
        return bool(rows) and rows[0][0] is not None

    def recent(self, first_seq: int, most: int, before: int) -> tuple[list[int], Block]:
        """Up to ``most`` of the newest trained articles from number ``first_seq`` on, and their numbers.

        Only those of minibatches that began before ``before`` articles had been trained.
        """
        seqs: list[int] = []
        parts: list[Block] = []
        rows = self.select(
            "(SELECT first_seq, articles, sum(articles) OVER (ORDER BY first_seq DESC) AS newest FROM recent)"
            " recent",
            {"first_seq": PositiveCount, "articles": Any},
            "WHERE first_seq + articles > ? AND newest > ? ORDER BY first_seq",
            [first_seq, self.progress().articles - before],
        )
        for first, articles in rows:
            if len(seqs) == most:
                break
            found = stored_block(self, "recent", "first_seq", first, articles)
            start = max(0, first_seq - first)
            part = found[start : start + most - len(seqs)]
            parts.append(part)
            seqs += range(first + start, first + start + len(part))
        return seqs, Block.concatenate(parts)

    def check_proportions(self) -> None:
        """Raise `SessionError` if no article's proportions are recorded, and say why."""
        if self._rows("SELECT 1 FROM blocks LIMIT 1"):
            return
        if self.settings()[KEEP_ARTICLES] != "all":
            raise SessionError(
                "topic proportions are not recorded: that needs a session begun with --keep-articles all"
            )
        self.check_trained()
        raise Damaged("blocks has no row")

    def recorded_articles(self, *, held_out: bool = False) -> RecordedArticles:
        """All trained articles whose proportions are recorded; ``held_out``: those held out, too."""
        columns, room = {**BLOCK, "page_ids": Any, "titles": Any}, self._room(8)
        clause = f"b {_where(held_out)} ORDER BY first_seq"
        rows = self.select("blocks", columns, clause, largest=room, most=MOST_BLOCKS)
        firsts, sizes = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
        if (firsts[1:] < firsts[:-1] + sizes[:-1]).any():
            raise Damaged("blocks.articles is out of range")
        titles = [row[3] for row in rows]
        if [isinstance(keys, bytes) and len(keys) for keys in titles] != (2 * sizes).tolist():
            raise Damaged("blocks.titles has the wrong length")
        page_ids = [np.empty(0, np.int64)]
        for _, articles, packed, _ in rows:
            wide = isinstance(packed, bytes) and len(packed) == 8 * articles
            dtype = np.int64 if wide else np.int32
            page_ids.append(numbers(packed, "blocks.page_ids", dtype, (articles,), -(2**63), 2**63 - 1))
        return RecordedArticles(
            firsts,
            np.cumsum(sizes) - sizes,
            np.concatenate(page_ids),
            np.frombuffer(b"".join(titles), "<u2"),
        )

    def proportions(self, model: str, *, held_out: bool = False) -> Proportions:
        """The proportions of all `recorded_articles` in one model."""
        blocks = self.select(
            "blocks",
            {"p.data": Any, "b.articles": PositiveCount},
            "b LEFT JOIN proportions p ON p.first_seq = b.first_seq AND p.model = ?"
            f" {_where(held_out)} ORDER BY b.first_seq",
            [self._number(model)],
            largest=self._room(LARGEST_ARTICLE),
            most=MOST_BLOCKS,
        )
        return Proportions.from_blocks(blocks, self.spec(model).topics)

    def each_block(self) -> list[tuple[int, int]]:
        """(first number, articles) of every block, in the order of the stream."""
        return self.select("blocks", BLOCK, "ORDER BY first_seq", most=MOST_BLOCKS)

    def proportions_of(self, model: str, first_seq: int, articles: int) -> Proportions:
        """The proportions of one block in one model."""
        key, room = [self._number(model), first_seq], self._room(LARGEST_ARTICLE)
        rows = self.select("proportions", {"data": Any}, OF_BLOCK, key, largest=room)
        blocks = [(data, articles) for (data,) in rows or [(None,)]]
        return Proportions.from_blocks(blocks, self.spec(model).topics)

    def leading_topics(
        self, model: str, seqs: Collection[int], most: int
    ) -> dict[int, list[tuple[int, float]]]:
        """The ``most`` largest (topic, proportion) of these articles, as far as they are recorded."""
        found: dict[int, list[tuple[int, float]]] = {}
        first, articles, kept = 0, 0, None
        for seq in sorted(seqs):
            if not first <= seq < first + articles:
                last_before = "WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1"
                rows = self.select("blocks", BLOCK, last_before, [seq])
                first, articles = rows[0] if rows else (0, 0)
                if seq >= first + articles:
                    continue
                kept = self.proportions_of(model, first, articles)
            assert kept is not None
            one = kept[seq - first : seq - first + 1]
            pairs = zip(one.topics.tolist(), one.values().tolist(), strict=True)
            found[seq] = sorted(pairs, key=lambda pair: -pair[1])[:most]
        return found

    def _room(self, of_an_article: int) -> int:
        return SMALL + of_an_article * self.settings().batch_size

    def _articles(self, clause: str, parameters: Sequence[object]) -> list[ArticleRow]:
        if not (found := self._columns(clause, parameters)):
            return []
        *plain, topics, shares, ids = found
        largest = map(tuple, map(zip, repeat(self.models()), topics, shares))
        return list(map(ArticleRow, *plain, largest, ids))

    def _columns(self, clause: str, parameters: Sequence[object]) -> Columns:
        with self.one_moment():
            rows = self._rows(
                f"SELECT seq, page_id, {_TITLE}, revision_id, words, role, topics, id FROM articles {clause}",
                parameters,
                largest=_LARGEST_ROW,
                most=MOST_ARTICLES,
            )
            dtype = released.LARGEST if self._is_released() else LARGEST
        if not rows:
            return ()
        seqs, page_ids, titles, revision_ids, words, roles, packed, ids = zip(*rows, strict=True)
        return (
            convert(seqs, list[PositiveCount], "articles.seq"),
            convert(page_ids, list[int], "articles.page_id"),
            convert(titles, list[Text], "articles.title"),
            convert(revision_ids, list[int], "articles.revision_id"),
            convert(words, list[Count], "articles.words"),
            [ROLES[role] for role in convert(roles, list[Literal[0, 1, 2]], "articles.role")],
            *_decode_largest(packed, self.settings().models, dtype),
            convert(ids, list[Text | None], "articles.id"),
        )


def _where(held_out: bool) -> str:
    """SQL for the rows of `blocks`, named b, that are asked for."""
    return "" if held_out else f"WHERE NOT {IS_HELD_OUT}"


def _decode_largest(
    packed: Sequence[object], models: Sequence[ModelSpec], dtype: np.dtype[Any]
) -> tuple[list[list[int]], list[list[float]]]:
    """`articles.topics`: each model's largest topic, and its proportion; none for untrained articles."""
    there = [one for one in packed if one is not None]
    size = 2 * dtype.itemsize * len(models)
    if not all(isinstance(one, bytes) and len(one) == size for one in there):
        raise Damaged("articles.topics has the wrong length")
    pairs = np.frombuffer(b"".join(there), dtype).reshape(len(there), len(models), 2)  # type: ignore[arg-type]
    topics, shares = pairs[:, :, 0], pairs[:, :, 1]
    if (topics >= [model.topics for model in models]).any() or (shares > 10_000).any():
        raise Damaged("articles.topics is out of range")
    found = iter(zip(topics.tolist(), (shares / 10_000).tolist(), strict=True))
    each = [([], []) if one is None else next(found) for one in packed]
    return [topic for topic, _ in each], [share for _, share in each]


def _escaped(text: str) -> str:
    """The text escaped for a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
