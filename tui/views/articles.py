"""Articles: what was read, newest first; by title; or those most about one topic."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from session.reading import ArticleRow
from tui.look import Choice, Look
from tui.messages import OpenTopic
from tui.views.view import View, name
from tui.widgets.articlelist import ArticleList
from tui.words import plural, visible

MANY = 200


class Articles(View):
    """One list that shows the stream, or what was looked for."""

    TITLE = "Articles"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("escape", "all", "All articles", id="articles.all", tooltip="the newest articles again"),
    ]

    def __init__(self) -> None:
        super().__init__(id="articles-view")
        self._look: Look | None = None
        self._choice = Choice()
        self._sought = ""
        self._shown: tuple[object, str] | None = None

    def compose(self) -> ComposeResult:
        yield ArticleList(id="articles")

    def home(self) -> Widget | None:
        return self.query_one(ArticleList)

    def show(self, look: Look, choice: Choice) -> None:
        self._look, self._choice = look, choice
        now = (look.recent, f"{choice.model_of(look)} {self._sought}")
        if self._shown is None or now[0] is not self._shown[0] or now[1] != self._shown[1]:
            self._shown = now
            self.run_worker(self._fill(look, choice.model_of(look)), group="articles", exclusive=True)

    async def _fill(self, look: Look, model: str | None) -> None:
        sought = self._sought
        topic = sought[1:] if sought.startswith("#") and sought[1:].isdecimal() else None
        none: list[ArticleRow] = []
        if topic is not None and model is not None:
            rows = await self.ask(lambda reader: reader.articles_about(model, int(topic), MANY), none)
            title = f"Articles most about topic {topic}"
        elif sought:
            rows = await self.ask(lambda reader: reader.find_articles(sought, MANY), none)
            title = f"{plural(len(rows), 'article')} with “{visible(sought)}” in the title"
        else:
            rows = await self.ask(lambda reader: reader.recent_articles(MANY), none)
            title = "Articles read, newest first"
        listed = self.query_one(ArticleList)
        listed.empty = " nothing found" if sought else " the first articles are on their way"
        listed.show_articles(rows, look, model)
        name(listed, title)

    @on(ArticleList.Chosen, "#articles")
    def _chosen(self, event: ArticleList.Chosen) -> None:
        row: ArticleRow = event.row
        model = None if self._look is None else self._choice.model_of(self._look)
        for named, topic, _ in row.topics:
            if named == model:
                self.post_message(OpenTopic(topic))
                return
        self.app.notify("this article was not trained on, so it has no topic", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._sought) if action == "all" else True

    def action_all(self) -> None:
        self.find("")

    def finds(self) -> str:
        return "a title, or #12 for the articles about topic 12"

    def find(self, text: str) -> None:
        self._sought = text.strip()
        self.refresh_bindings()
        if self.is_mounted and self._look is not None:
            self.show(self._look, self._choice)

    def copied(self) -> str:
        row = self.query_one(ArticleList).current
        return "" if row is None else visible(row.title)
