"""Ask: what the user's own text, or an article, is about, and the articles most like it."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from wikitopics.session.analysis.answers import Answer
from wikitopics.session.analysis.painted import PaintedText
from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import in_line
from wikitopics.tui.inks import Clickable, Line, coloured, marks_of, name
from wikitopics.tui.lists import Folded, RowList
from wikitopics.tui.painted import painted_lines, topic_inks
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import bar, cut, visible, weight
from wikitopics.tui.views.articles import ArticleList, topic_cell, topic_parts, without_topics
from wikitopics.tui.views.sky_map import SkyMap
from wikitopics.tui.views.view import View

if TYPE_CHECKING:
    from wikitopics.tui.field import Field

PAUSE = 0.02
"""Seconds without a key press after which the question is asked."""
TITLE = 40
"""The maximum width of an article's title, in cells."""
WORD = 20
TOPIC = 30
"""The maximum widths of the word at the cursor and of its topic, in cells."""


Row = tuple[int, float, Line, str]
"""A topic, its proportion, its label as `topic_parts` draws it, and the words that support it."""


class Mix(RowList[Row]):
    """The topics of a text, one per line, each with the words that support it."""

    headed = False

    def key(self, row: Row) -> object:
        topic, _, _, _ = row
        return topic

    def parts(self, row: Row, width: int) -> Line:
        _, part, (weight, *label), words = row
        _, largest_part, _, _ = self.rows[0]
        room = width // 8
        drawn = bar(part / largest_part, room, ascii_only=self.ascii_only).ljust(room)
        *dot, (cell, label_ink) = topic_cell(label, width // 3)
        ink = "muted"
        if dot:
            _, dot_ink = dot[0]
            ink, _, _ = dot_ink.partition("+")
        assert isinstance(cell, Clickable)
        shown = Clickable(cell.rstrip(), action=cell.action)
        return [
            (" ", ""),
            weight,
            (drawn + " ", ink),
            *((text, ink) for text, _ in dot),
            (shown, label_ink),
            (" " * (len(cell) - len(shown)), ""),
            (words, ""),
        ]


class Beginning(Folded[PaintedText]):
    """The beginning of an article's text, painted, of which nothing is cut."""

    BORDER_TITLE = "How it begins, in the colours of its topics"

    def show_text(self, painted: PaintedText) -> None:
        """Show this text, in as many lines as it takes."""
        self.show_items([painted])
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return sum(len(self.fold(item, width - 1)) for item in self.items)

    def fold(self, item: PaintedText, width: int) -> list[Line]:
        inks = topic_inks(item, coloured=coloured(self.app))
        return [[(" ", ""), *line] for line in painted_lines(item, inks, width - 2)]


class AskView(View):
    """A field for a text, or in its place the card of an article; below, what is known of it."""

    TITLE = "Ask"
    HOME = ArticleList
    _field: "Field"
    BINDINGS = bindings("ask")

    trail: tuple[ArticleRow | None, ...] = (None,)
    """The cards opened one from another, the one in sight last; None: the field."""
    origin = ""
    """The title of the view from which the first of them was opened."""
    _left: ArticleRow | None = None
    """The card that was closed last."""
    _known = ""
    """How many words of the text are known."""

    def compose(self) -> ComposeResult:
        from wikitopics.tui.field import Field  # loads much that no other view needs

        self._field = Field(id="question", classes="panel", highlight_cursor_line=False)
        yield self._field
        yield Beginning(id="beginning")
        with Horizontal(id="asked"):
            with Vertical():
                yield Mix(id="mix")
                yield ArticleList(id="alike")
            yield SkyMap(id="asked-map")

    def home(self) -> Widget:
        return self._field if self.trail[-1] is None else super().home()

    def open(self, article: ArticleRow | None, origin: str) -> None:
        """Show the card of this article, or the field. ``origin``: the title of the view from which
        it is opened."""
        if origin != self.TITLE:
            self.origin = origin
            self.trail = ()
        elif article is None and None in self.trail:
            self.trail = self.trail[: self.trail.index(None)]
        self.trail = (*self.trail, article)
        if article is None:
            self._field.select_all()  # what is typed takes the place of the last text
        self._turn()

    def action_back(self) -> None:
        if len(self.trail) == 1:
            self.host.call_later(self.host.action_view, self.origin)
            return
        *before, self._left = self.trail
        self.trail = tuple(before)
        self._turn()

    def _turn(self) -> None:
        self.set_class(self.trail[-1] is not None, "-card")
        self.again()
        self.host.settle()

    def on_text_area_changed(self) -> None:
        self.again()

    def on_text_area_selection_changed(self) -> None:
        self._name_field()

    def _name_field(self) -> None:
        """Say below the field which topic the word at the cursor most likely comes from."""
        below = self._known
        word = self._field.word_at_cursor()
        if word is not None and self.session is not None:
            label = self.session.topic_label(self.model, word.topic)
            told = f"{cut(visible(word.word), WORD)}: {cut(visible(label), TOPIC)}"
            below = f"{told} {weight(word.probability)} · {below}"
        name(self._field, "Ask: type or paste a text", below)

    @property
    def _has_room_for_map(self) -> bool:
        return self.has_class("-wide") and self.has_class("-tall")

    def draw(self, session: SessionView) -> None:
        model = self.model
        sky = self.query_one(SkyMap)
        self.set_class(not sky.lack, "-placed")
        if self._has_room_for_map:
            article = self.trail[-1]
            seq = None if article is None else article.seq
            sky.choose(seq)
            sky.show_map(self, session)
        question = self.trail[-1] or self._field.text
        if not self.query_one(Mix).empty:
            self._show(Answer(lack="loading the model …"), session, model, question)
        values = (
            question,
            model,
            session.status.committed_at,
            session.topics,
            self.choice.ascii_only,
        )
        self.fill("answer", values, partial(self._fill, session, model, question))

    async def _fill(self, session: SessionView, model: str, question: ArticleRow | str) -> None:
        await asyncio.sleep(PAUSE)
        watch = self.host.watched
        commit = session.status.committed_at

        def answer(reader: SessionReader) -> Answer:
            answers = watch.answering(reader, model, commit)
            if isinstance(question, str):
                found = answers.of_text(question)
            else:
                found = answers.of_article(question)
            return answers.painted(found, question)

        try:
            found = await self.ask(answer, aside=True)
            self._show(found, session, model, question)
            await self._show_place(found, model, question)
        except SessionError as error:
            if self.is_running:
                self._show(Answer(lack=str(error)), session, model, question)
            raise

    async def _show_place(self, answer: Answer, model: str, question: ArticleRow | str) -> None:
        """Show on the map where the text would lie, and the articles most like it."""
        sky = self.query_one(SkyMap)
        if sky.lack or not self._has_room_for_map:
            return
        theta = answer.theta if isinstance(question, str) else None
        watch = self.host.watched

        def placed(reader: SessionReader) -> tuple[int, int] | None:
            if theta is None:
                return None
            places = watch.map_of(reader, model).place(reader, theta[None])
            if places is None:
                return None
            ((x, y),) = places.tolist()
            return x, y

        place = await self.ask(placed, aside=True)
        sky.show_text(place, [row.seq for row, _, _ in answer.alike])

    def _show(
        self,
        answer: Answer,
        session: SessionView,
        model: str,
        question: ArticleRow | str,
    ) -> None:
        mix = self.query_one(Mix)
        marks = marks_of(self, session, model)
        which = session.of_model(model) + session.of_now()
        below = answer.lack if answer.topics else ""
        beginning = None
        if isinstance(question, str):
            name(mix, f"Its topics, and the words that support each{which}", below)
            self._known = answer.known
            self._field.paint(answer.painted)
        else:
            title = cut(visible(question.called), TITLE)
            ((length, _),) = without_topics(question)
            name(mix, f"{title}: its topics, and their words{which}", below or length)
            beginning = answer.painted
        self._name_field()
        self.set_class(beginning is not None, "-begun")
        if beginning is not None:
            self.query_one(Beginning).show_text(beginning)
        inks = topic_inks(answer.painted, coloured=coloured(self.app))
        mix.empty = answer.lack or "its topics, and the texts most like it, appear as you type"
        mix_rows = []
        for topic, part, words in answer.topics:
            label = topic_parts(session, model, (topic, part), marks, weighed=True)
            if topic in inks:
                weighed, *others = label
                label = [weighed, *((text, inks[topic]) for text, _ in others)]
            mix_rows.append((topic, part, label, in_line(words)))
        mix.show(mix_rows, anew=True)

        listed = self.query_one(ArticleList)
        listed.empty = answer.lone
        rows = [row for row, _, _ in answer.alike]
        leading = {row.seq: topics for row, _, topics in answer.alike}
        sought = answer.sought
        spans = None if sought is None else sought.spans
        listed.show_articles(rows, leading, session, model, sought=question, spans=spans)
        if self._left in rows:
            listed.go_to(rows.index(self._left))
            self._left = None
        likeness = [of_it for _, of_it, _ in answer.alike]
        title = f"{session.noun.capitalize()} most like it"
        span = ""
        if likeness:
            span = f"likeness {likeness[0]:.2f} to {likeness[-1]:.2f}"
            span += "; 1: the same, 0: like any other"
        if sought is not None:
            title = f"{session.noun.capitalize()} by its words and topics"
            if likeness:
                span = "those with all the words in their title first"
        name(listed, title, span)
        self.refresh_bindings()

    def open_row(self, row: object) -> None:
        if isinstance(row, tuple):
            topic, *_ = row
            self.host.call_later(self.host.open_topic, topic)
        else:
            super().open_row(row)

    def chosen_article(self) -> ArticleRow | None:
        article = self.trail[-1]
        if article is None and self.is_mounted:
            return self.query_one(ArticleList).current
        return article
