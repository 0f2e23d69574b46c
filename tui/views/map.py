"""The map: all topics over the whole stream."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from wikitopics.session.records import TopicRow
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.messages import OpenTopic
from wikitopics.tui.views.view import View, name
from wikitopics.tui.widgets.topicmap import TopicMap
from wikitopics.tui.words import plural, share

FAR = 10
"""Columns of a long step."""


class Map(View):
    """One row per topic, the stream from left to right; the line below describes the cell under the
    cursor."""

    TITLE = "Map"
    LISTS_TOPICS = True
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("enter", "choose", "Detail", key_display="Enter", id="map.detail", tooltip="open the topic"),
        Binding("escape", "all", "All topics", id="map.all", tooltip="show all topics again"),
        Binding(
            "left",
            "along(-1)",
            "Along",
            key_display="←→",
            id="map.left",
            tooltip="earlier or later in the stream",
        ),
        Binding("right", "along(1)", "Later", show=False, id="map.right"),
        Binding("shift+left", f"along(-{FAR})", show=False),
        Binding("shift+right", f"along({FAR})", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="map-view")
        self._look: Look | None = None
        self._choice = Choice()
        self._sought = ""

    def compose(self) -> ComposeResult:
        yield TopicMap(id="map")

    def home(self) -> Widget | None:
        return self.query_one(TopicMap)

    def show(self, look: Look, choice: Choice) -> None:
        self._look, self._choice = look, choice
        self.query_one(TopicMap).show_map(
            look, choice, self._sought, lambda question: self.ask(question, aside=True)
        )

    @on(TopicMap.Pointed)
    @on(TopicMap.Moved, "#map")
    def _entitle(self) -> None:
        look, drawn = self._look, self.query_one(TopicMap)
        if look is None:
            return
        which = f"with “{self._sought}”" if self._sought else "over time"
        title = f"{plural(len(drawn.rows), 'topic')} {which}{look.of_model(self._choice.model_of(look))}"
        name(drawn, f"{title} · {drawn.legend}", drawn.told)
        self.refresh_bindings()  # by now there is a topic to name and to pin

    @on(TopicMap.Chosen, "#map")
    def _chosen(self) -> None:
        row = self.chosen_topic()
        if row is not None:
            self.post_message(OpenTopic(row.topic))

    def action_along(self, by: int) -> None:
        self.query_one(TopicMap).along(by)

    def action_choose(self) -> None:
        self.query_one(TopicMap).action_choose()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._sought) if action == "all" else True

    def action_all(self) -> None:
        self.find("")

    def finds(self) -> str:
        return "a topic's name, number or word"

    def find(self, text: str) -> None:
        self._sought = text
        self.refresh_bindings()
        if self.is_mounted and self._look is not None:
            self.show(self._look, self._choice)

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(TopicMap).current

    def copied(self) -> str:
        pointed = self.query_one(TopicMap).pointed
        if pointed is None:
            return ""
        row, articles, part = pointed
        return f"{row.label}, {share(part)} after {plural(articles, 'article')}"
