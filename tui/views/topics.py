"""Topics: the list, and everything about one of them."""

import time
from collections.abc import Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from wikitopics.session.analysis.quality import coherence
from wikitopics.session.analysis.story import doublings
from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.session.wording import in_line
from wikitopics.tui.inks import Line, Lines, Part, name
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import count, padded, share
from wikitopics.tui.topic_card import TopicCard
from wikitopics.tui.topic_list import NEWCOMER, TopicList, topics_title
from wikitopics.tui.views.articles import ArticleList, leading
from wikitopics.tui.views.view import A_TOPIC, View

# How a topic's words developed: top words by number of articles read, side by side ([H10] figure
# 1).

History = Sequence[tuple[int, float, tuple[tuple[str, float], ...]]]
"""(articles, share, words with probabilities) of every stored snapshot, oldest first."""
COLUMN = 15
"""Cells of a column of the topic's history."""
HEAD_LINES = 2
"""Lines above its words: the articles read, and the topic's share."""


class Evolution(Lines, can_focus=True):
    """One column per doubling of the articles read; a word that is missing from the column before
    has a +."""

    DEFAULT_CLASSES = "panel"

    _columns: History = ()
    selected: int | None = None
    """Articles of the selected column; None: the newest, as it changes."""
    _why = ""

    def show(self, history: History, why: str = "no snapshot yet") -> None:
        """Draw this history; a selected column stays selected by its article count.

        ``why``: shown in place of an empty history.
        """
        shown = doublings([articles for articles, _, _ in history])
        self._columns = [
            (articles, part, words) for articles, part, words in history if articles in shown
        ]
        self._why = why
        if self.selected not in self._articles():
            self.selected = None
        self.redraw()

    def _articles(self) -> list[int]:
        return [articles for articles, _, _ in self._columns]

    @property
    def _index(self) -> int:
        """Index of the selected column."""
        if self.selected is None:
            return len(self._columns) - 1
        return self._articles().index(self.selected)

    def step(self, by: int) -> None:
        """Select the previous or next column."""
        if self._columns:
            last = len(self._columns) - 1
            goal = min(max(self._index + by, 0), last)
            self.selected = None if goal == last else self._articles()[goal]
            self.redraw()

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The words of the selected column."""
        if not self._columns:
            return ()
        _, _, words = self._columns[self._index]
        return words

    def lines(self, width: int, height: int) -> list[Line]:
        if not self._columns:
            return [[(f" {self._why}", "muted")]]
        room = max((width - 1) // COLUMN, 1)
        first = max(min(self._index - room // 2, len(self._columns) - room), 0)
        in_sight = range(first, min(first + room, len(self._columns)))
        lines: list[Line] = []
        for y in range(height):
            is_cut = first > 0 and y == 0
            edge = "‹" if is_cut else " "
            lines.append([(edge, "faint"), *(self._cell(index, y) for index in in_sight)])
        return lines

    def _cell(self, index: int, y: int) -> Part:
        """Line ``y`` of a column."""
        articles, part, words = self._columns[index]
        is_selected = self.selected == articles
        if y == 0:
            head_ink = "accent" if is_selected else "strong"
            return count(articles).ljust(COLUMN), head_ink
        if y == 1:
            return share(part).ljust(COLUMN), "muted"
        if y - HEAD_LINES >= len(words):
            return " " * COLUMN, ""
        word, _ = words[y - HEAD_LINES]
        if index > 0:
            _, _, words_before = self._columns[index - 1]
            if word not in dict(words_before):
                return padded(f"{NEWCOMER}{word}", COLUMN - 1) + " ", "new"
        ink = "accent" if is_selected else ""
        return padded(word, COLUMN - 1) + " ", ink


SIDE_BY_SIDE = 110
"""Columns of the terminal from which list and detail stand side by side."""
# Lines of the terminal from which there is room for less, or for more, of the detail.
LOW = 22
TALL = 38
LOFTY = 55
HISTORY_WORDS = 20
"""Words of each column of the topic's history."""
ARTICLES = 50
"""The maximum number of articles about the topic."""
OUTDATED = 60.0
"""Seconds out of sight after which the detail is emptied until it has been read again."""


class TopicView(View):
    """List and detail side by side if the terminal is wide; otherwise Enter opens the detail and
    Escape closes it."""

    TITLE = "Topics"
    HOME = TopicList
    FINDS = A_TOPIC
    FINDS_TOPICS = True
    BINDINGS = bindings("topics")

    _wanted: int | None = None
    """A topic to open as soon as it is listed."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield TopicList(id="all-topics")
            with Vertical(id="detail"):
                yield TopicCard(id="topic-card")
                yield Evolution(id="evolution")
                yield ArticleList(id="topic-articles")

    def home(self) -> Widget:
        return self.query_one(Evolution) if self._covered else super().home()

    @property
    def _covered(self) -> bool:
        return self.has_class("-open") and not self.has_class("-side")

    def fit(self, width: int, height: int) -> None:
        self.set_class(width >= SIDE_BY_SIDE, "-side")
        self.set_class(height < LOW, "-low")
        self.set_class(height >= TALL, "-tall")
        self.set_class(height >= LOFTY, "-lofty")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "close":
            if self._covered or self.sought:
                return True
            return self.is_mounted and not self.query_one(TopicList).has_focus
        if action == "unfold":
            if self._covered or not self.is_mounted:
                return False
            return self.query_one(TopicList).is_grouped
        if action == "fold":
            return not self._covered
        if action == "step":
            return self._covered or self.has_class("-side")
        return super().check_action(action, parameters)

    def draw(self, session: SessionView) -> None:
        if time.monotonic() - self.hidden_at >= OUTDATED:
            self._show_nothing(session, "reading …")
            self.fillings.pop("detail", None)
        self.hidden_at = float("inf")
        topics = self.query_one(TopicList)
        topics.show_topics(session, self.choice, self.search)
        name(topics, *topics_title(session, self.choice, self.search))
        self.fill_titles(topics, session)
        if self._wanted is not None and topics.go_to_topic(self._wanted):
            self._wanted = None
            self._open_detail()
        self._detail()

    def open(self, topic: int) -> None:
        """Show everything about this topic."""
        self.sought = ""
        self._wanted = topic
        self.fillings.pop("detail", None)
        self.again()

    @on(TopicList.Moved)
    def _detail(self) -> None:
        """Fill the detail if it is in sight and does not yet show this topic at this moment."""
        session = self.session
        is_in_sight = self.has_class("-side") or self.has_class("-open")
        if session is None or not is_in_sight:
            return
        row = self.chosen_topic()
        model = self.model
        self.query_one(TopicCard).show(row, session, self.choice)
        if row is None:
            self.fill("detail", (), partial(self._empty, session))
        else:
            self.fill(
                "detail",
                (row.label, model, session.topics),
                partial(self._fill, row, model, session),
            )

    async def _empty(self, session: SessionView) -> None:
        self._show_nothing(session, "no topic selected")

    def _show_nothing(self, session: SessionView, why: str) -> None:
        """Show no topic's history and articles, and why."""
        evolution = self.query_one(Evolution)
        evolution.show((), why)
        name(evolution, "Over time")
        listed = self.query_one(ArticleList)
        listed.show_articles((), {}, session, self.model)
        name(listed, session.noun.capitalize())

    async def _fill(self, row: TopicRow, model: str, session: SessionView) -> None:
        topic = row.topic
        shown = not self.choice.by_probability
        history = await self.ask(
            lambda reader: reader.topic_history(
                model,
                topic,
                HISTORY_WORDS,
                session.as_of,
                shown=shown,
            )
        )
        articles = await self.ask(lambda reader: reader.articles_about(model, topic, ARTICLES))
        articles = [article for article in articles if session.seen_by_now(article)]
        self.query_one(TopicCard).show_articles(articles)
        topics = await leading(self, model, articles)
        evolution = self.query_one(Evolution)
        evolution.show(history)
        name(evolution, f"{row.label} over time, by {session.noun} read", "[ ] step through it")
        listed = self.query_one(ArticleList)
        listed.show_articles(articles, topics, session, model, sought=model, topic=topic)
        name(listed, f"{session.noun.capitalize()} most about {row.label}")
        if session.as_of is None:
            npmi = await self.ask(lambda reader: coherence(reader, model, topic), aside=True)
            self.query_one(TopicCard).show_coherence(npmi)

    def open_row(self, row: object) -> None:
        if isinstance(row, TopicRow):
            self._open_detail()
        else:
            super().open_row(row)

    def _open_detail(self) -> None:
        self.add_class("-open")
        self.query_one(TopicList).hold()
        self._detail()
        self.query_one(Evolution).focus()
        self.refresh_bindings()

    def action_close(self) -> None:
        if self._covered or self.screen.focused is not self.query_one(TopicList):
            self.remove_class("-open")
            self.query_one(TopicList).focus()
            self.refresh_bindings()
        elif self.sought:
            self.find("")

    def action_step(self, by: int) -> None:
        self.query_one(TopicList).hold()
        self.query_one(Evolution).step(by)

    def action_fold(self) -> None:
        listed = self.query_one(TopicList)
        listed.group(not listed.is_grouped)
        self.refresh_bindings()

    def action_unfold(self, out: bool) -> None:
        listed = self.query_one(TopicList)
        if out:
            listed.unfold()
        else:
            listed.fold()

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(TopicList).topic

    def chosen_article(self) -> ArticleRow | None:
        listed = self.query_one(ArticleList)
        return listed.current if listed.has_focus else None

    def copied(self) -> str:
        row = self.chosen_topic()
        if row is None:
            return ""
        words = self.query_one(Evolution).words or row.shown
        return f"{row.label} ({share(row.share)}): " + in_line(word for word, _ in words)
