"""What all views have in common."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from textual import on
from textual.containers import Container
from textual.widget import Widget

from wikitopics.session.errors import SessionError
from wikitopics.session.given_names import rename
from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.session.storage.files import replacing
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.background import Work, run_in_background
from wikitopics.tui.browser import open_page
from wikitopics.tui.chart import Chart
from wikitopics.tui.host import Host
from wikitopics.tui.lists import RowList
from wikitopics.tui.questions import Rename
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.terminal import is_refused, write_action
from wikitopics.tui.text import cut, visible
from wikitopics.tui.topic_list import TopicList
from wikitopics.tui.topic_order import ORDERS, Search

T = TypeVar("T")

WIDE = 110
"""The number of columns from which more panels are shown."""
TALL = 34
"""The number of lines from which more panels are shown."""
FAR = 10
"""Columns of a long step of a crosshair."""
A_TOPIC = "a topic's name or number, or words"
"""What `/` finds in a list of topics."""
MOST_FOUND = 50
"""The most topics that words find."""
PAUSE = 0.02
"""Seconds without a key press after which what is typed is looked for."""


def next_choice(now: T, every: Sequence[T]) -> T:
    """The next of these values, the first after the last one or after one that is not among
    them."""
    if now not in every:
        return every[0]
    place = every.index(now) + 1
    return every[place % len(every)]


class View(Container):
    """A view. It draws the session as it is given, and asks the session's reader for anything else
    that it needs."""

    TITLE = ""
    PART_OF = ""
    """The title of the view that the bottom line marks in this one's place; "" for none."""
    FINDS = ""
    """What `/` finds here; "" if there is nothing to find."""
    FINDS_TOPICS = False
    """Whether topics are among that."""
    HOME: type[Widget]
    """The widget that has the focus when the view opens."""
    OF_MODEL = True
    """Whether it shows the selected model."""

    session: SessionView | None = None
    """The session that is drawn, as it was read."""
    sought = ""
    """Only rows that contain this are shown."""
    found: Mapping[int, Sequence[str]] = {}
    """The topics for which the words sought speak, the strongest first, with these words."""
    _found_by: tuple[object, ...] = ()
    """The session, the model and the text of which they are."""
    hidden_at = float("inf")
    """When it went out of sight, by the monotonic clock, unless it has been drawn since."""

    def __init__(self) -> None:
        super().__init__()
        self.fillings: dict[str, tuple[object, ...]] = {}
        """By part of the view: the values for which that part was last filled."""

    def on_mount(self) -> None:
        self.host.call_later(self.host.view_ready)

    def fill(self, part: str, values: tuple[object, ...], work: Work) -> None:
        """Fill a part of the view in the background, if the session or the ``values`` that the part
        depends on have changed since it was last filled. If the session cannot be read, the old
        drawing stays, and the next drawing of the view tries again."""
        values = (self.host.path, *values)
        if self.fillings.get(part) == values:
            return
        self.fillings[part] = values

        async def filling() -> None:
            try:
                await work()
            except SessionError:
                self.fillings.pop(part, None)

        run_in_background(self, filling, part)

    def fill_titles(self, listed: TopicList, session: SessionView) -> None:
        """Show titles beside the words of the topics listed; none in a replay, since articles are
        known as they are now."""
        model = self.model
        topics = [row.topic for row in session.topics_of(model) if session.as_of is None]

        async def filling() -> None:
            listed.show_titles(
                await self.ask(lambda reader: reader.titles_about(model, topics), aside=True)
            )

        self.fill("titles", (model, session.topics, session.as_of), filling)

    @property
    def search(self) -> Search:
        """What is sought, as lists of topics take it."""
        return Search(self.sought, self.found)

    @property
    def host(self) -> Host:
        """The app, which knows the session on screen and what the user has chosen to see."""
        return cast(Host, self.app)

    @property
    def choice(self) -> Choice:
        """What the user has chosen to see."""
        return self.host.choice

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader; ``aside``: whether the answer may take long.
        Raises SessionError if the file cannot be read now; the status line says so."""
        answer = await self.host.watched.ask(question, aside=aside)
        if not self.is_running:
            raise asyncio.CancelledError  # the view has gone meanwhile: nothing is left to fill
        return answer

    def show(self, session: SessionView) -> None:
        """Draw the session as it is here."""
        self.session = session
        self._seek(session)
        self.draw(session)

    def draw(self, session: SessionView) -> None:
        """Hand the session to the panels."""
        raise NotImplementedError

    def again(self) -> None:
        """Draw the same again: something besides the session has changed."""
        if self.is_mounted and self.session is not None:
            self._seek(self.session)
            self.draw(self.session)

    @property
    def model(self) -> str:
        """The model whose topics are listed, once a session is drawn."""
        assert self.session is not None
        return self.choice.model_of(self.session)

    def home(self) -> Widget:
        """The widget that has the focus when the view opens."""
        return self.query_one(self.HOME)

    def fit(self, width: int, height: int) -> None:
        """Adjust to the terminal's size."""
        self.set_class(width >= WIDE, "-wide")
        self.set_class(height >= TALL, "-tall")

    def find(self, text: str) -> None:
        """Show only rows that contain ``text``; "" shows everything."""
        self.sought = text.strip()
        self.refresh_bindings()
        self.again()

    def _seek(self, session: SessionView) -> None:
        """Find the topics for which the words sought speak, if topics are what is found here. In a
        replay, there are only the words of that time."""
        sought = self.sought
        if not self.FINDS_TOPICS or not sought or session.as_of is not None:
            self.found = {}
            self.fillings.pop("found", None)
            return
        model = self.choice.model_of(session)
        found_by = (self.host.path, model, sought)
        if found_by != self._found_by:
            self.found = {}  # rather than what was found in another model, until this one answers
            self._found_by = found_by

        async def filling() -> None:
            await asyncio.sleep(PAUSE)
            commit = session.status.committed_at
            watch = self.host.watched

            def topics(reader: SessionReader) -> dict[int, Sequence[str]]:
                try:
                    finder = watch.answering(reader, model, commit).finder
                    found = finder.topics(reader, finder.sought(sought), MOST_FOUND)
                except SessionError:  # there is no model yet, or a damaged one
                    return {}
                return {topic.number: topic.words for topic in found}

            found = await self.ask(topics, aside=True)
            if sought == self.sought and found != self.found:
                self.found = found
                self.again()

        self.fill("found", (sought, model, session.topics), filling)

    def action_all(self) -> None:
        self.find("")

    def action_chart(self, method: str, *values: object) -> None:
        """Have the view's chart `step`, `zoom`, `reset` or `toggle`."""
        getattr(self.query_one(Chart), method)(*values)

    def action_list(self, action: str, *values: object) -> None:
        """Run an action of the widget that has the focus when the view opens."""
        getattr(self.query_one(self.HOME), f"action_{action}")(*values)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if is_refused(self, action):
            return False
        match action:
            case "all":
                return bool(self.sought)
            case "maximise":
                return self.screen.maximized is not None or len(self.screen.focus_chain) > 1
            case "models":
                session = self.host.latest
                return session is not None and self.OF_MODEL and len(session.models) > 1
            case "order_topics" | "order_words":
                return self.FINDS == A_TOPIC  # it lists topics
            case "browse":
                return self._address() is not None
            case "rename" | "pin":
                return self.chosen_topic() is not None
        return True

    @on(RowList.Selection)
    def _row_chosen(self, event: RowList.Selection) -> None:
        self.open_row(event.row)

    def open_row(self, row: object) -> None:
        """Open what a row of a list shows: an article's card, or everything about a topic."""
        if isinstance(row, ArticleRow):
            self.host.call_later(self.host.action_ask, row)
        elif isinstance(row, TopicRow):
            self.host.call_later(self.host.open_topic, row.topic)

    def action_sort(self, order: str) -> None:
        """Order the view's list by this from now on."""
        self.choice.order = order
        self.host.show()

    # Keys of all views ----------------------------------------------------------------------------

    def action_models(self) -> None:
        if self.host.latest is not None:
            self.choice.model = next_choice(self.choice.model, [None, *self.host.latest.models])
            self.host.show()

    def action_order_topics(self) -> None:
        self.action_sort(next_choice(self.choice.order, [*ORDERS]))

    def action_order_words(self) -> None:
        self.choice.by_probability = not self.choice.by_probability
        first = "most probable" if self.choice.by_probability else "most telling"
        self.app.notify(f"Words of topics: the {first} first")
        self.host.watched.read_again()

    def action_pin(self) -> None:
        row = self.chosen_topic()
        if row is None:
            return
        topic = (self.model, row.topic)
        if topic in self.choice.pinned:
            self.choice.pinned.remove(topic)
        else:
            self.choice.pinned.add(topic)
        self.host.show()

    @write_action
    def action_rename(self) -> None:
        row = self.chosen_topic()
        if row is None:
            return
        model = self.model
        path = self.host.path

        def give_name(name: str) -> str:
            return rename(path, model, row.topic, name)

        def answered(name: str | None) -> None:
            if name is not None:
                self.app.notify(f"#{row.topic} is now called {name}")
                self.host.watched.read_again()

        self.app.push_screen(Rename(row, give_name), answered)

    def _address(self) -> str | None:
        """The address of the selected article."""
        article = self.chosen_article()
        session = self.host.latest
        if article is None or session is None:
            return None
        return session.address(article)

    def action_browse(self) -> None:
        address = self._address()
        if address is None:
            return

        if self.host.READ_ONLY:  # the user's browser is on another computer
            self.app.open_url(address)
            return

        async def browse() -> None:
            if not await asyncio.to_thread(open_page, address):
                self.app.copy_to_clipboard(address)
                self.app.notify(f"no browser can be opened here; copied: {address}")

        run_in_background(self.app, browse, "browse", exclusive=False)

    def action_copy(self) -> None:
        text = "\n".join(visible(line) for line in self.copied().split("\n"))
        if text:
            self.app.copy_to_clipboard(text)
            self.app.notify(f"copied: {cut(text, 60)}")

    @write_action
    def action_picture(self) -> None:
        """Save a picture of the screen in the current folder, under a name that is free."""
        name = f"{self.host.path.stem}-{self.TITLE.lower()}"
        target = Path(f"{name}.svg")
        number = 1
        while os.path.lexists(target):
            number += 1
            target = Path(f"{name}-{number}.svg")
        with self.host.warning():
            with replacing(target) as file:
                file.write(self.app.export_screenshot().encode())
            self.app.notify(f"saved: {target.absolute()}")

    def action_maximise(self) -> None:
        """Give the focused panel all the room, or shrink it again."""
        screen = self.screen
        screen.maximized = screen.focused if screen.maximized is None else None
        self.call_after_refresh(self.host.show)

    def copied(self) -> str:
        """The text that `c` copies; "" for none."""
        article = self.chosen_article()
        title = "" if article is None else article.title
        return self._address() or title

    def chosen_topic(self) -> TopicRow | None:
        """The topic under the cursor; None in views without topics."""
        return None

    def chosen_article(self) -> ArticleRow | None:
        """The article under the cursor; None if there is none."""
        return None
