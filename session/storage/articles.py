"""The articles read and their largest topics in each model, and those among them whose topics are
inferred again.

The tables are `articles` and `recent`; the proportions of articles are in `recorded.py`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from sqlite3 import Connection
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.records import ArticleRow, Count, PositiveCount, Role, Text
from wikitopics.session.settings import ModelSpec
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import stored_block
from wikitopics.session.storage.database import (
    IS_NOT_SKIPPED,
    IS_TRAINED,
    ROLES,
    SMALL,
    VERSION,
    select,
)
from wikitopics.session.storage.decoding import Rows
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.snippets import SnippetReader
from wikitopics.session.storage.typical import most_typical
from wikitopics.session.wording import TITLES, titles_shown

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
_TITLED = (
    r"(title LIKE ?1 ESCAPE '\' OR (title = '' AND 'document ' || page_id LIKE ?1 ESCAPE '\'))"
)
"""Whether that title is LIKE the first parameter. This form is a third faster than the plain one if
articles have titles."""
_AT_ONCE = 1000
"""The number of articles read at a time."""
_MANY = 2**15
"""The number of articles that `all_labels` yields at a time."""
_MOST_ALIKE = 5000
"""The most articles whose titles are compared with a mistyped one."""
_LARGEST_ROW = 2**18
"""The most bytes of an article's row: a title is at most a quarter of it."""
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

The columns are the fields of `ArticleRow`, except that there are two for its topics: for each model
the largest topic, and for each model the proportion of that topic.
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
        thetas: Sequence[NDArray[np.floating[Any]]],
        *,
        with_proportions: bool = False,
        fine: bool = False,
    ) -> "ArticleTopics":
        """From each model's proportions, (n, K); ``fine``: stored in the fine form."""
        columns: list[NDArray[Any]] = []
        for theta in thetas:
            largest_proportions = theta.max(axis=1).astype(np.float64)
            columns.append(theta.argmax(axis=1))
            columns.append(np.rint(largest_proportions * 10_000))
        proportions: Sequence[Proportions] = ()
        if with_proportions:
            proportions = [Proportions.of(theta, fine=fine) for theta in thetas]
        return ArticleTopics(np.column_stack(columns).astype(LARGEST), proportions)

    @staticmethod
    def concatenate(parts: Sequence["ArticleTopics"]) -> "ArticleTopics":
        """Those of several parts, at least one, in order."""
        of_models = zip(*(part.proportions for part in parts), strict=True)
        return ArticleTopics(
            np.concatenate([part.largest for part in parts], dtype=LARGEST),
            [Proportions.concatenate(of_model) for of_model in of_models],
        )


def insert_articles(
    db: Connection,
    block: Block,
    role: Role,
    topics: ArticleTopics | None,
    seqs: Iterable[int],
) -> None:
    """Add articles with these numbers; ``topics``: those of the articles, if they were trained."""
    nothing = [None] * len(block)
    packed_topics: Sequence[bytes | None] = nothing
    if topics is not None:
        packed_topics = [row.tobytes() for row in topics.largest]
    db.executemany(
        "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        zip(
            seqs,
            block.page_ids.tolist(),
            block.titles,
            block.revision_ids.tolist(),
            block.words.tolist(),
            [ROLES.index(role)] * len(block),
            packed_topics,
            block.ids or nothing,
            strict=True,
        ),
    )


def insert_recent(db: Connection, rows: Sequence[dict[str, object]], *, keeps_first: bool) -> None:
    """Store the counts of trained articles, and drop those no longer among the newest, but none
    while the first ones may still be needed (``keeps_first``)."""
    db.executemany("INSERT INTO recent VALUES (:first_seq, :articles, :documents)", rows)
    if keeps_first:
        return
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
    documents = block.nameless().to_bytes()
    return {"first_seq": first_seq, "articles": len(block), "documents": documents}


def keep_top(db: Connection, topics: Sequence[int], most: int) -> None:
    """Drop trained articles that are not among the ``most`` articles most about some topic of a
    model.

    ``topics``: the number of topics of each model.
    """
    best: set[int] = set()
    for model, K in enumerate(topics):
        for seqs in most_typical(partial(select, db), model, range(K), most, VERSION).values():
            best.update(seqs)
    db.execute(
        f"DELETE FROM articles WHERE {IS_TRAINED} AND seq NOT IN (SELECT value FROM json_each(?))",
        [json.dumps(sorted(best))],
    )


class ArticleReader(SnippetReader):
    """Questions about articles."""

    def recent_articles(self, limit: int = 50, up_to: int | None = None) -> list[ArticleRow]:
        """The newest articles, newest first; ``up_to``: from this number (`seq`) down."""
        if up_to is None:
            return self._articles("ORDER BY seq DESC LIMIT ?", [limit])
        return self._articles("WHERE seq <= ? ORDER BY seq DESC LIMIT ?", [up_to, limit])

    def newest_counted(self) -> int | None:
        """The `seq` of the newest article that was not skipped; None if there is none."""
        return self._first_seq(f"WHERE {IS_NOT_SKIPPED} ORDER BY seq DESC LIMIT 1")

    def trained_as(self, number: int) -> int | None:
        """The `seq` of the article that was trained as the ``number``-th; None if not all are
        kept."""
        if self.settings()[KEEP_ARTICLES] != "all" or number < 1:
            return None
        return self._first_seq(f"WHERE {IS_TRAINED} ORDER BY seq LIMIT 1 OFFSET ?", [number - 1])

    def _first_seq(self, clause: str, parameters: Sequence[object] = ()) -> int | None:
        """The number of the first article that an SQL clause chooses; None if it chooses none."""
        rows = self._rows(f"SELECT seq FROM articles {clause}", parameters)
        if not rows:
            return None
        seq: int = rows[0][0]
        return seq

    def find_articles(self, sought: str, limit: int = 50) -> list[ArticleRow]:
        """Articles with ``sought`` in the title, newest first."""
        return self._articles(
            f"WHERE {_TITLED} ORDER BY seq DESC LIMIT ?2", [f"%{_escaped(sought)}%", limit]
        )

    def numbered(self, seqs: Iterable[int], *, with_snippets: bool = True) -> dict[int, ArticleRow]:
        """Those articles of these numbers (`seq`) that exist."""
        wanted = list(seqs)
        found: list[ArticleRow] = []
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            placeholders = ", ".join("?" * len(some))
            found += self._articles(
                f"WHERE seq IN ({placeholders})", some, with_snippets=with_snippets
            )
        return {article.seq: article for article in found}

    def resembling(self, title: str) -> list[ArticleRow]:
        """Articles whose title may be meant by a mistyped one: half of it, or its longest word,
        matches."""
        # A command line may have bytes that are no text.
        title = title.encode("utf-8", "replace").decode()
        middle = (len(title) + 1) // 2
        longest_word = max(title.split(), key=len, default="")
        patterns = [
            f"{_escaped(title[:middle])}%",
            f"%{_escaped(title[middle:])}",
            f"%{_escaped(longest_word)}%",
        ]
        matches_any = " OR ".join([f"{_TITLE} LIKE ? ESCAPE '\\'"] * len(patterns))
        return self._articles(
            f"WHERE {matches_any} LIMIT {_MOST_ALIKE}", patterns, with_snippets=False
        )

    def articles_about(self, model: str, topic: int, limit: int = 20) -> list[ArticleRow]:
        """The trained articles with this largest topic, in the order of `most_typical`."""
        return self.articles_about_each(model, [topic], limit)[topic]

    def titles_about(self, model: str, topics: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """What the most typical articles of each of these topics are called, as it stands beside
        the topic's words on the screen."""
        return {
            topic: titles_shown(article.called for article in articles)
            for topic, articles in self.articles_beside(model, topics).items()
        }

    def articles_beside(self, model: str, topics: Iterable[int]) -> dict[int, list[ArticleRow]]:
        """For each of these topics, the most typical articles whose titles stand beside its words;
        of several with the same title, the first."""
        with self.one_moment():
            # More articles than titles, since some may have the same title.
            found = self.articles_about_each(model, topics, 4 * TITLES, with_snippets=False)
            of_title = {
                topic: {article.title: article for article in reversed(articles)}
                for topic, articles in found.items()
            }
            beside = {
                topic: [of_title[topic][title] for title in titles_shown(row.title for row in rows)]
                for topic, rows in found.items()
            }
            snippets = self.snippets([row.seq for rows in beside.values() for row in rows])
        return {
            topic: [replace(row, snippet=snippets.get(row.seq)) for row in rows]
            for topic, rows in beside.items()
        }

    def articles_about_each(
        self,
        model: str,
        topics: Iterable[int],
        limit: int,
        *,
        with_snippets: bool = True,
    ) -> dict[int, list[ArticleRow]]:
        """The `articles_about` each of these topics."""
        with self.one_moment():
            number = self._number(model)
            seqs_of = most_typical(self.select, number, topics, limit, self._format())
            of_number = self.numbered(
                chain.from_iterable(seqs_of.values()), with_snippets=with_snippets
            )
        articles_of = {topic: [of_number[seq] for seq in seqs] for topic, seqs in seqs_of.items()}
        for topic, articles in articles_of.items():
            for article in articles:
                largest = [(model_name, its_topic) for model_name, its_topic, _ in article.topics]
                if (model, topic) not in largest:
                    raise Damaged("the order by topic and articles do not match")
        return articles_of

    def all_articles(self, *, trained_only: bool) -> Iterator[Columns]:
        """The stream in its order, by column, in batches of bounded memory."""
        which = f"seq > ? AND {IS_TRAINED}" if trained_only else "seq > ?"
        clause = f"WHERE {which} ORDER BY seq LIMIT {_AT_ONCE}"
        last_seq = 0
        while columns := self._columns(clause, [last_seq]):
            yield columns
            seqs = columns[0]
            last_seq = seqs[-1]

    def articles_at(self, seqs: NDArray[np.int64]) -> Iterator[Columns]:
        """The articles of these numbers, which ascend, by column, in batches of bounded memory.
        Raises `Damaged` if the session does not have all of them."""
        for start in range(0, len(seqs), _AT_ONCE):
            some = seqs[start : start + _AT_ONCE].tolist()
            first = some[0]
            last = some[-1]
            if last - first == len(some) - 1:
                columns = self._columns("WHERE seq BETWEEN ? AND ? ORDER BY seq", [first, last])
            else:
                wanted = "WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq"
                columns = self._columns(wanted, [json.dumps(some)])
            if not columns or list(columns[0]) != some:
                raise Damaged("places and articles do not match")
            yield columns

    def titles_after(
        self, seq: int
    ) -> Iterator[tuple[Sequence[int], Sequence[int], Sequence[str]]]:
        """(numbers, page ids, titles) of the articles after this number, in the order of the
        stream, some at a time."""
        for rows in self._in_parts({"page_id": int, f"{_TITLE} AS title": Text}, after=seq):
            seqs, page_ids, titles = zip(*rows, strict=True)
            yield seqs, page_ids, titles

    def all_labels(
        self, *, ids: bool, titles: bool, trained_only: bool
    ) -> Iterator[tuple[Sequence[int], Sequence[int], Sequence[str], Sequence[str]]]:
        """(numbers, page ids, ids in their own collection, titles) of all articles in the order of
        the stream, many at a time. Texts are empty unless they are wanted, and ids where there is
        none."""
        id_column = "ifnull(id, '')" if ids else "'' AS id"
        title_column = f"{_TITLE} AS title" if titles else "'' AS title"
        columns = {"page_id": int, id_column: Text, title_column: Text}
        which = IS_TRAINED if trained_only else "true"
        seqs: list[int] = []
        page_ids: list[int] = []
        of_ids: list[str] = []
        of_titles: list[str] = []
        # Rows are taken apart while they are still in the processor's cache: to read as many of
        # them as are wanted together takes twice as long.
        for rows in self._in_parts(columns, which):
            some_seqs, some_page_ids, some_ids, some_titles = zip(*rows, strict=True)
            seqs += some_seqs
            page_ids += some_page_ids
            of_ids += some_ids
            of_titles += some_titles
            if len(seqs) >= _MANY:
                yield seqs, page_ids, of_ids, of_titles
                seqs, page_ids, of_ids, of_titles = [], [], [], []
        if seqs:
            yield seqs, page_ids, of_ids, of_titles

    def texts_after(
        self, seq: int
    ) -> Iterator[tuple[Sequence[int], Sequence[int], Sequence[str], Sequence[str]]]:
        """(numbers, page ids, titles, snippets) of the articles after this number, in the order of
        the stream, some at a time; an empty snippet where none is kept."""
        for seqs, page_ids, titles in self.titles_after(seq):
            yield seqs, page_ids, titles, self.snippets_of(seqs)

    def n_articles(self) -> int:
        """The number of articles of any role that are kept."""
        (row,) = self.select("articles", {"count(*)": Count})
        n: int = row[0]
        return n

    def last_seq(self) -> int:
        """The number of the last article; 0 if there are none."""
        (row,) = self.select("articles", {"max(seq)": PositiveCount | None})
        return row[0] or 0

    def trained_among(self, page_ids: Sequence[int]) -> tuple[frozenset[int], bool]:
        """(those of these pages that the session is known to have trained on, whether all that it
        trained on are known). They are not if it keeps only the articles most about a topic, or
        none."""
        trained = f"FROM articles WHERE {IS_TRAINED}"
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

    def own_ids(self, last: int) -> Iterator[str]:
        """The own ids, up to this page id, of articles that were not skipped."""
        wanted = f"page_id <= ? AND {IS_NOT_SKIPPED}"
        for rows in self._in_parts({"id": Text | None}, wanted, [last]):
            yield from (own_id for _, own_id in rows if own_id)

    def ids_after(self, page_id: int) -> Iterator[str]:
        """The own ids of all articles with larger page ids; "" for one without."""
        for rows in self._in_parts({"ifnull(id, '')": Text}, "page_id > ?", [page_id]):
            yield from (own_id for _, own_id in rows)

    def seqs_of_id(self, own_id: str) -> list[int]:
        """The numbers of the articles with this id of their own."""
        # A command line may have bytes that are no text.
        own_id = own_id.encode("utf-8", "replace").decode()
        wanted = "WHERE id = ? AND id <> ''"
        return [seq for (seq,) in self.select("articles", {"seq": PositiveCount}, wanted, [own_id])]

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

    def _in_parts(
        self,
        columns: Mapping[str, Any],
        which: str = "true",
        parameters: Sequence[object] = (),
        *,
        after: int = 0,
    ) -> Iterator[Rows]:
        """The number and these columns of each article after the number ``after`` that an SQL
        condition holds for, in the order of the stream, some at a time."""
        columns = {"seq": PositiveCount, **columns}
        clause = f"WHERE seq > ? AND {which} ORDER BY seq LIMIT {_AT_ONCE}"
        while rows := self.select(
            "articles", columns, clause, [after, *parameters], largest=_LARGEST_ROW
        ):
            yield rows
            after, *_ = rows[-1]

    def _articles(
        self, clause: str, parameters: Sequence[object], *, with_snippets: bool = True
    ) -> list[ArticleRow]:
        """The articles that an SQL clause chooses, in its order. Without snippets, those from all
        over a session are read several times as quickly."""
        with self.one_moment():
            columns = self._columns(clause, parameters)
            if not columns:
                return []
            *plain, topics, proportions, ids = columns
            seqs, *_ = plain
            snippets = self.snippets(seqs) if with_snippets else {}
        models = self.models()
        # An article that was not trained has no topics.
        largest = [
            tuple(zip(models, its_topics, its_proportions, strict=False))
            for its_topics, its_proportions in zip(topics, proportions, strict=True)
        ]
        snippet_of_each = map(snippets.get, seqs)
        return list(map(ArticleRow, *plain, largest, ids, snippet_of_each))

    def _columns(self, clause: str, parameters: Sequence[object]) -> Columns:
        """The same by column."""
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
        *plain, role_numbers, packed, ids = zip(*rows, strict=True)
        roles = [ROLES[number] for number in role_numbers]
        topics, proportions = _decode_largest(packed, self.settings().models, dtype)
        return (*plain, roles, topics, proportions, ids)


def _decode_largest(
    packed: Sequence[object], models: Sequence[ModelSpec], dtype: np.dtype[Any]
) -> tuple[list[list[int]], list[list[float]]]:
    """From `articles.topics` of some articles: for each its largest topic in each model, and for
    each the proportions of these; nothing for an article with NULL."""
    size = 2 * dtype.itemsize * len(models)
    trained: list[bytes] = []
    for value in packed:
        if value is None:
            continue
        if not isinstance(value, bytes) or len(value) != size:
            raise Damaged("articles.topics has the wrong length")
        trained.append(value)
    pairs = np.frombuffer(b"".join(trained), dtype).reshape(len(trained), len(models), 2)
    topics_of_trained = pairs[:, :, 0]
    ten_thousandths = pairs[:, :, 1]
    n_topics = [model.topics for model in models]
    if (topics_of_trained >= n_topics).any() or (ten_thousandths > 10_000).any():
        raise Damaged("articles.topics is out of range")
    topics: list[list[int]] = [[] for _ in packed]
    proportions: list[list[float]] = [[] for _ in packed]
    places = [place for place, value in enumerate(packed) if value is not None]
    decoded = zip(
        places,
        topics_of_trained.tolist(),
        (ten_thousandths / 10_000).tolist(),
        strict=True,
    )
    for place, largest, shares in decoded:
        topics[place] = largest
        proportions[place] = shares
    return topics, proportions


def _escaped(text: str) -> str:
    """The text escaped for a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
