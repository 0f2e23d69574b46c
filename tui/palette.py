"""What the command palette finds: the keys that apply now, topics by number, name and word, articles by
title."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape
from textual.message import Message

from wikitopics.session.errors import SessionError
from wikitopics.session.records import in_line
from wikitopics.tui.views.view import OpenArticle, OpenTopic
from wikitopics.tui.widgets.listing import found
from wikitopics.tui.words import nearness, plural, share, visible

if TYPE_CHECKING:
    from wikitopics.tui.app import Wikitopics

TOPICS, TITLES = 8, 12
"""The most hits of each kind."""
LEAST = 3
"""The number of letters from which titles are searched."""


class Command(NamedTuple):
    """A key that applies now."""

    key: str
    does: str
    where: str
    """The view in which it works, or "Everywhere"."""
    act: Callable[[], Coroutine[object, object, bool]]


def commands(app: "Wikitopics") -> Iterator[Command]:
    """Everything that applies now, once each."""
    seen = set()
    for node, binding, enabled, _ in app.main.active_bindings.values():
        if not binding.id or binding.id in seen or not enabled or not binding.tooltip:
            continue
        seen.add(binding.id)
        key = binding.key_display or app.get_key_display(binding)
        where = "Everywhere" if node is app else app.main.view.TITLE
        yield Command(key, binding.tooltip, where, partial(app.run_action, binding.action, node))


class Finds(Provider):
    """Each hit opens the topic or article that it names."""

    async def search(self, query: str) -> Hits:
        app = cast("Wikitopics", self.app)
        look = app.latest
        if look is None:
            return
        model = app.choice.model_of(look)
        for place, row in enumerate(found(look.topics_of(model), query)[:TOPICS]):
            words = f"Topic, {share(row.share)}: {in_line(word for word, _ in row.words)}"
            yield self._hit(0.9 - place / 100, row.label, words, OpenTopic(row.topic))
        title = query.strip()
        if len(title) < LEAST:
            return
        try:
            articles = await app.watched.ask(lambda reader: reader.find_articles(title, TITLES), aside=True)
        except SessionError:
            return  # the status line says why the session cannot be read
        for article in articles:
            near = nearness(query, article.title)
            words = f"{look.noun[:-1].capitalize()} of {plural(article.words, 'word')}"
            yield self._hit(0.5 - near / 10, article.title, words, OpenArticle(article.title))

    def _hit(self, score: float, text: str, words: str, message: Message) -> Hit:
        text, words = visible(text), visible(words)
        return Hit(score, Content(text), partial(self.app.post_message, message), text, escape(words))
