"""Topics: the list, and everything about one of them."""

from collections.abc import Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from wikitopics.session.analysis.story import doublings
from wikitopics.session.records import ArticleRow, TopicRow, in_line
from wikitopics.tui.inks import Line, Lines, Part, name
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import count, padded, share
from wikitopics.tui.topic_card import TopicCard
from wikitopics.tui.topic_list import TopicList, topics_title
from wikitopics.tui.views.articles import ArticleList, leading
from wikitopics.tui.views.view import A_TOPIC, View

# How a topic's words developed: top words by number of articles read, side by side ([H10] figure
# 1).

History = Sequence[tuple[int, float, tuple[tuple[str, float], ...]]]
"""(articles, share, words with probabilities) of every stored snapshot, oldest first."""
COLUMN = 15


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
        self._why, self._columns = why, [snapshot for snapshot in history if snapshot[0] in shown]
        if self.selected not in self._articles():
            self.selected = None
        self.redraw()

    def _articles(self) -> list[int]:
        return [articles for articles, _, _ in self._columns]

    @property
    def _index(self) -> int:
        """Index of the selected column."""
        return (
            len(self._columns) - 1
            if self.selected is None
            else self._articles().index(self.selected)
        )

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
        return self._columns[self._index][2] if self._columns else ()

    def lines(self, width: int, height: int) -> list[Line]:
        if not self._columns:
            return [[(f" {self._why}", "muted")]]
        room = max((width - 1) // COLUMN, 1)
        chosen = self._index
        first = max(min(chosen - room // 2, len(self._columns) - room), 0)
        out = []
        for y in range(height):
            parts: Line = [("‹" if first and y == 0 else " ", "faint")]
            for index in range(first, min(first + room, len(self._columns))):
                parts.append(self._cell(index, y, index == chosen and self.selected is not None))
            out.append(parts)
        return out

    def _cell(self, index: int, y: int, chosen: bool) -> Part:
        articles, part, words = self._columns[index]
        if y < 2:
            ink = "muted" if y else ("accent" if chosen else "strong")
            return f"{share(part) if y else count(articles):<{COLUMN}}", ink
        if y - 2 >= len(words):
            return " " * COLUMN, ""
        word = words[y - 2][0]
        new = index > 0 and word not in dict(self._columns[index - 1][2])
        text = padded(f"+{word}" if new else word, COLUMN - 1) + " "
        return text, "new" if new else ("accent" if chosen else "")


SIDE_BY_SIDE = 110
LOW, TALL, LOFTY = 22, 38, 55
KEPT_WORDS = 20
ARTICLES = 50


class TopicView(View):
    """List and detail side by side if the terminal is wide; otherwise Enter opens the detail and
    Escape closes it."""

    TITLE = "Topics"
    HOME = TopicList
    FINDS = A_TOPIC
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
        listed = self.query_one(TopicList) if self.is_mounted else None
        if action == "close":
            return bool(
                self._covered or self.sought or (listed is not None and not listed.has_focus)
            )
        if action == "unfold":
            return listed is not None and listed.is_grouped and not self._covered
        if action == "fold":
            return not self._covered
        if action == "step":
            return self._covered or self.has_class("-side")
        return super().check_action(action, parameters)

    def draw(self, session: SessionView) -> None:
        topics = self.query_one(TopicList)
        topics.show_topics(session, self.choice, self.sought)
        name(topics, *topics_title(session, self.choice, self.sought))
        if self._wanted is not None and topics.go_to_topic(self._wanted):
            self._wanted = None
            self._open_detail()
        self._detail()

    def open(self, topic: int) -> None:
        """Show everything about this topic."""
        self.sought, self._wanted = "", topic
        self.fillings.pop("detail", None)
        self.again()

    @on(TopicList.Moved)
    def _detail(self) -> None:
        """Fill the detail if it is in sight and does not yet show this topic at this moment."""
        row, session = self.chosen_topic(), self.session
        if session is None or not (self.has_class("-side") or self.has_class("-open")):
            return
        model = self.model
        self.query_one(TopicCard).show(row, session, self.choice)
        if row is None:
            self.fill("detail", (), partial(self._empty, session, model))
        else:
            self.fill(
                "detail",
                (row.label, model, session.topics),
                partial(self._fill, row, model, session),
            )

    async def _empty(self, session: SessionView, model: str) -> None:
        """Show that no topic is selected."""
        evolution, listed = self.query_one(Evolution), self.query_one(ArticleList)
        evolution.show((), "no topic selected")
        name(evolution, "Over time")
        listed.show_articles((), {}, session, model)
        name(listed, session.noun.capitalize())

    async def _fill(self, row: TopicRow, model: str, session: SessionView) -> None:
        topic, relevant = row.topic, self.choice.relevant
        history = await self.ask(
            lambda reader: reader.topic_history(
                model,
                topic,
                KEPT_WORDS,
                session.as_of,
                relevant=relevant,
            ),
            aside=True,
        )
        articles = await self.ask(lambda reader: reader.articles_about(model, topic, ARTICLES))
        articles = [article for article in articles if session.seen_by_now(article)]
        topics = await leading(self, model, articles)
        evolution, listed = self.query_one(Evolution), self.query_one(ArticleList)
        evolution.show(history)
        name(evolution, f"{row.label} over time, by {session.noun} read", "[ ] step through it")
        listed.show_articles(articles, topics, session, model, sought=model, topic=topic)
        name(listed, f"{session.noun.capitalize()} most about {row.label}")

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
        words = self.query_one(Evolution).words or row.words
        return f"{row.label} ({share(row.share)}): " + in_line(word for word, _ in words)
