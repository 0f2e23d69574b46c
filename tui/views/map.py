"""The map: all topics over the whole stream."""

from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget

from wikitopics.session.records import TopicRow
from wikitopics.tui.inks import name
from wikitopics.tui.keys import key
from wikitopics.tui.look import Look
from wikitopics.tui.views.view import A_TOPIC, OpenTopic, View
from wikitopics.tui.widgets.topicmap import TopicMap
from wikitopics.tui.words import plural, share

FAR = 10
"""Columns of a long step."""


class Map(View):
    """One row per topic, the stream from left to right; the line below describes the cell under the
    cursor."""

    TITLE = "Map"
    FINDS = A_TOPIC
    LISTS_TOPICS = True
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        key("map.detail", "enter", "choose", "Detail", "open the topic at that moment", "Enter"),
        key("map.all", "escape", "all", "All topics", "show all topics again"),
        key("map.left", "left", "along(-1)", "Along", "earlier or later in the stream", "←→"),
        key("map.right", "right", "along(1)", "Later"),
        ("shift+left", f"along(-{FAR})"),
        ("shift+right", f"along({FAR})"),
    ]

    def compose(self) -> ComposeResult:
        yield TopicMap(id="map")

    def home(self) -> Widget | None:
        return self.query_one(TopicMap)

    def draw(self, look: Look) -> None:
        drawn = self.query_one(TopicMap)
        drawn.show_map(look, self.choice, self.sought, partial(self.ask, aside=True))

    @on(TopicMap.Pointed)
    @on(TopicMap.Moved, "#map")
    def _entitle(self) -> None:
        look, drawn = self.look, self.query_one(TopicMap)
        if look is None:
            return
        which = f"with “{self.sought}”" if self.sought else "over time"
        title = f"{plural(len(drawn.rows), 'topic')} {which}{look.of_model(self.model)}"
        name(drawn, f"{title} · {drawn.legend}", drawn.told)
        self.refresh_bindings()  # by now there is a topic to name and to pin

    @on(TopicMap.Chosen, "#map")
    def _chosen(self, event: TopicMap.Chosen) -> None:
        self.post_message(OpenTopic(event.row.topic, self.query_one(TopicMap).at))

    def action_along(self, by: int) -> None:
        self.query_one(TopicMap).along(by)

    def action_choose(self) -> None:
        self.query_one(TopicMap).action_choose()

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(TopicMap).current

    def copied(self) -> str:
        pointed = self.query_one(TopicMap).pointed
        if pointed is None or self.look is None:
            return ""
        row, articles, part = pointed
        return f"{row.label}, {share(part)} after {self.look.some(articles)}"
