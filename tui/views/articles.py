"""Articles: those read, newest first; those found by title; or those most about one topic."""

from functools import partial

from textual import on
from textual.app import ComposeResult

from wikitopics.session.records import ArticleRow
from wikitopics.tui.inks import name
from wikitopics.tui.keys import binding
from wikitopics.tui.look import SessionView
from wikitopics.tui.text import count, nearness, plural, visible
from wikitopics.tui.views.view import View
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
    HOME = ArticleList
    FINDS = "a title, or #12 for those about topic 12"
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        binding("articles.all", "escape", "all", "All", "back to the newest")
    ]

    def compose(self) -> ComposeResult:
        yield ArticleList(id="articles")

    def draw(self, look: SessionView) -> None:
        model, listed = self.choice.model_of(look), self.query_one(ArticleList)
        # The first article of the list while the user reads further down, so that newer ones do not push the
        # others away; None if the list begins with the newest.
        first = None
        reads_on = bool(listed.held or listed.scroll_offset.y)
        if listed.rows and reads_on and listed.of == (look.status.session, "", None):
            first = listed.rows[0].seq
        values = look.recent, model, self.sought, first
        self.fill("articles", values, partial(self._fill, look, model, first))

    async def _fill(self, look: SessionView, model: str | None, first: int | None) -> None:
        sought, topic = self.sought, topic_sought(self.sought)
        if model is not None and topic is not None:
            rows = await self.ask(lambda reader: reader.articles_about(model, topic, MANY))
            title = f"{look.noun.capitalize()} most about {look.topic_label(model, topic)}"
        elif sought:
            rows = await self.ask(lambda reader: reader.find_articles(sought, FOUND), aside=True)
            rows.sort(key=lambda row: nearness(sought, row.title))
            title = f"{plural(len(rows), look.noun[:-1])} with “{visible(sought)}” in the title"
        else:
            rows = await self.ask(lambda reader: reader.recent_articles(MANY, first))
            title = f"{look.noun.capitalize()} read, newest first"
            if first is not None and look.recent and (newer := look.recent[0].seq - first):
                title += f"; Home shows {count(newer)} newer"
        leading = await self.leading(model, rows)
        listed = self.query_one(ArticleList)
        listed.empty = " nothing found" if sought else coming(look)
        had_any = bool(listed.rows)
        listed.show_articles(rows, leading, look, model, sought=sought, topic=topic)
        if bool(rows) != had_any:
            self.refresh_bindings()  # actions for an article
        name(listed, title)

    @on(ArticleList.Chosen, "#articles")
    def _chosen(self, event: ArticleList.Chosen) -> None:
        row: ArticleRow = event.row
        for model, topic, _ in row.topics:
            if model == self.model:
                self.host.call_later(self.host.open_topic, topic)
                return
        noun = "article" if self.look is None else self.look.noun[:-1]
        self.app.notify(f"this {noun} was not trained on, so it has no topic")

    def chosen_article(self) -> ArticleRow | None:
        return self.query_one(ArticleList).current if self.is_mounted else None

    def copied(self) -> str:
        row = self.query_one(ArticleList).current
        return "" if row is None else visible(row.title)
