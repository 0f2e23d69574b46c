"""The articles of a stored session, with each model's largest topic."""

import json
from collections.abc import Iterable, Iterator, Sequence

from wikitopics.session.errors import Damaged
from wikitopics.session.records import ArticleColumns, ArticleRow
from wikitopics.session.storage import released
from wikitopics.session.storage.codec.articles import LARGEST, decode_articles, largest_between
from wikitopics.session.storage.decoding import MOST, whole
from wikitopics.session.storage.reader.opened import OpenedSession
from wikitopics.session.storage.schema import ROLES, largest_topic

MOST_ARTICLES = 1_000_000
"""The most articles of one answer; `all_articles` has no such bound."""
_TITLE = "CASE title WHEN '' THEN 'document ' || page_id ELSE title END"
"""An article's title: documents of a file of word counts have only numbers."""
_TITLED = r"(title LIKE ?1 ESCAPE '\' OR title = '' AND 'document ' || page_id LIKE ?1 ESCAPE '\')"
"""Whether that title is LIKE the first parameter; written so, it is a third faster if articles have
titles."""
_AT_ONCE = 1000
_LARGEST_ROW = 2**18
"""The most bytes of an article's row: a title is at most a quarter of it."""


class ArticleReader(OpenedSession):
    """Questions about articles."""

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

    def articles_of(self, first_seq: int, articles: int) -> ArticleColumns:
        """This many articles from this number on. Raises `Damaged` if one is missing."""
        found = self._columns("WHERE seq BETWEEN ? AND ? ORDER BY seq", [first_seq, first_seq + articles - 1])
        if len(found.seqs) != articles:
            raise Damaged("blocks and articles do not match")
        return found

    def resembling(self, title: str, limit: int = 5000) -> list[ArticleRow]:
        """Articles whose title may be a mistyped one: half of it, or one word, matches."""
        middle, longest = (len(title) + 1) // 2, max(title.split(), key=len, default="")
        patterns = [
            _escaped(title[:middle]) + "%",
            "%" + _escaped(title[middle:]),
            "%" + _escaped(longest) + "%",
        ]
        tried = " OR ".join([f"{_TITLE} LIKE ? ESCAPE '\\'"] * len(patterns))
        return self._articles(f"WHERE {tried} LIMIT ?", [*patterns, limit])

    def articles_about(self, model: str, topic: int, limit: int = 20) -> list[ArticleRow]:
        """The articles with this largest topic, highest proportion first."""
        number = self._number(model)
        largest = largest_topic(number)
        with self.one_moment():
            if self._is_released():
                found = self._articles(released.ABOUT_TOPIC, [number, topic, limit])
            else:
                found = self._articles(
                    f"WHERE {largest} BETWEEN ? AND ? ORDER BY {largest} DESC, seq DESC LIMIT ?",
                    [*largest_between(topic), limit],
                )
        if any((model, topic) not in [largest[:2] for largest in article.topics] for article in found):
            raise Damaged("the order by topic and articles do not match")
        return found

    def all_articles(self, *, trained_only: bool) -> Iterator[ArticleRow]:
        """The stream in its order, in bounded memory."""
        for some in self.articles_by_column(trained_only=trained_only):
            yield from some.rows()

    def articles_by_column(self, *, trained_only: bool) -> Iterator[ArticleColumns]:
        """The same by column, in batches."""
        where = "WHERE role = 0" if trained_only else ""
        last = 0
        while True:
            clause = f"{where} {'AND' if where else 'WHERE'} seq > ? ORDER BY seq LIMIT {_AT_ONCE}"
            found = self._columns(clause, [last])
            if not found.seqs:
                return
            yield found
            last = found.seqs[-1]

    def trained_among(self, page_ids: Sequence[int]) -> tuple[frozenset[int], bool]:
        """Which of these pages it is known to have trained on, and whether all that it trained on are
        known. They are not if the session keeps only the articles most about a topic, or none."""
        trained = f"FROM articles WHERE role = {ROLES.index('trained')}"
        ((kept,),) = self._rows(f"SELECT count(*) {trained}")
        rows = self._rows(
            f"SELECT DISTINCT page_id {trained} AND page_id IN (SELECT value FROM json_each(?))",
            [json.dumps(list(page_ids))],
        )
        found = frozenset(whole(page, "articles.page_id", -MOST) for (page,) in rows)
        return found, kept >= self.committed().progress.articles

    def has_ids(self) -> bool:
        """Whether the source's articles have ids of their own."""
        rows = self._rows("SELECT id FROM articles LIMIT 1")
        return bool(rows) and rows[0][0] is not None

    def _articles(self, clause: str, parameters: Sequence[object]) -> list[ArticleRow]:
        return self._columns(clause, parameters).rows()

    def _columns(self, clause: str, parameters: Sequence[object]) -> ArticleColumns:
        with self.one_moment():
            rows = self._rows(
                f"SELECT seq, page_id, {_TITLE}, revision_id, words, role, topics, id FROM articles {clause}",
                parameters,
                largest=_LARGEST_ROW,
                most=MOST_ARTICLES,
            )
            dtype = released.LARGEST if self._is_released() else LARGEST
        return decode_articles(rows, self.settings().models, dtype)


def _escaped(text: str) -> str:
    """The text escaped for a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
