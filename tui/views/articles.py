"""Articles: those read, newest first; those found by title; or those most about one topic."""

from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget

from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.tui.inks import count, name, nearness, plural, visible
from wikitopics.tui.keys import binding
from wikitopics.tui.look import SessionView, run_in_background
from wikitopics.tui.views.view import OpenTopic, View
from wikitopics.tui.widgets.articles import ArticleList, coming

MANY = 200
FOUND = 2000
"""The most titles that a search lists with whole words first: the newest ones."""


def topic_sought(sought: str) -> int | None:
    """The number of the topic that is sought, as in "#12"."""
    return int(sought[1:]) if sought.startswith("#") and sought[1:].isdecimal() else None


class Articles(View):
    """One list that shows the stream, or the articles found."""

    TITLE = "Articles"
    FINDS = "a title, or #12 for those about topic 12"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        binding("articles.all", "escape", "all", "All", "back to the newest")
    ]

    _recent: object = None
    _shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield ArticleList(id="articles")

    def home(self) -> Widget | None:
        return self.query_one(ArticleList)

    def draw(self, look: SessionView) -> None:
        model, newest = self.choice.model_of(look), self._newest_shown(look)
        now = (model, self.sought, newest)
        if look.recent is not self._recent or now != self._shown:
            self._recent, self._shown = look.recent, now
            run_in_background(self, partial(self._fill, look, model, newest), "articles")

    def _newest_shown(self, look: SessionView) -> int | None:
        """The first article of the list while the user reads further down, so that newer ones do not push
        the others away; None if the list begins with the newest."""
        listed = self.query_one(ArticleList)
        if listed.of != (look.status.session, "", None) or not listed.rows:
            return None
        return listed.rows[0].seq if listed.held or listed.scroll_offset.y else None

    async def _fill(self, look: SessionView, model: str | None, newest: int | None) -> None:
        sought = self.sought
        try:
            rows, title = await self._found(look, sought, model, newest)
            leading = await self.leading(model, rows)
        except SessionError:
            self._shown = ()  # the old drawing stays; the next look asks again
            return
        later = look.recent[0].seq - newest if newest is not None and look.recent else 0
        if later and not sought:
            title += f"; Home shows {count(later)} newer"
        listed = self.query_one(ArticleList)
        listed.empty = " nothing found" if sought else coming(look)
        had_any = bool(listed.rows)
        listed.show_articles(rows, leading, look, model, sought=sought, topic=topic_sought(sought))
        if bool(rows) != had_any:
            self.refresh_bindings()  # actions for an article
        name(listed, title)

    async def _found(
        self, look: SessionView, sought: str, model: str | None, newest: int | None
    ) -> tuple[list[ArticleRow], str]:
        """The articles to list, and what they have in common."""
        topic = topic_sought(sought)
        if model is not None and topic is not None:
            rows = await self.ask(lambda reader: reader.articles_about(model, topic, MANY))
            return rows, f"{look.noun.capitalize()} most about {look.topic_label(model, topic)}"
        if sought:
            rows = await self.ask(lambda reader: reader.find_articles(sought, FOUND), aside=True)
            rows.sort(key=lambda row: nearness(sought, row.title))
            return rows, f"{plural(len(rows), look.noun[:-1])} with “{visible(sought)}” in the title"
        rows = await self.ask(lambda reader: reader.recent_articles(MANY, newest))
        return rows, f"{look.noun.capitalize()} read, newest first"

    @on(ArticleList.Chosen, "#articles")
    def _chosen(self, event: ArticleList.Chosen) -> None:
        row: ArticleRow = event.row
        for named, topic, _ in row.topics:
            if named == self.model:
                self.post_message(OpenTopic(topic))
                return
        called = "article" if self.look is None else self.look.noun[:-1]
        self.app.notify(f"this {called} was not trained on, so it has no topic", markup=False)

    def chosen_article(self) -> ArticleRow | None:
        return self.query_one(ArticleList).current if self.is_mounted else None

    def copied(self) -> str:
        row = self.query_one(ArticleList).current
        return "" if row is None else visible(row.title)
