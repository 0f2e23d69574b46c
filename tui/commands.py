"""The command palette: every key that applies now, and topics and articles by their names."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from typing import NamedTuple, cast

from textual.command import Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape
from textual.system_commands import SystemCommandsProvider

from wikitopics.session.errors import SessionError
from wikitopics.session.records import in_line
from wikitopics.tui.host import Host
from wikitopics.tui.main_screen import Main
from wikitopics.tui.terminal import is_refused
from wikitopics.tui.text import MISMATCH, nearness, plural, share, visible
from wikitopics.tui.topic_order import matching

TOPICS, TITLES = 8, 12
"""The maximum number of hits of each kind."""
LEAST = 3
"""The minimum number of letters for a search of titles."""


class KeyCommand(NamedTuple):
    """A key that applies now."""

    key: str
    does: str
    where: str
    """The view in which it works, or "Everywhere"."""
    act: Callable[[], Coroutine[object, object, bool]]


def commands(main: Main) -> Iterator[KeyCommand]:
    """Every key that applies now, once each."""
    app = main.app
    seen = set()
    for node, binding, enabled, _ in main.active_bindings.values():
        is_described = binding.id and binding.tooltip
        if not is_described or not enabled or binding.id in seen:
            continue
        seen.add(binding.id)
        yield KeyCommand(
            app.get_key_display(binding),
            binding.tooltip,
            where="Everywhere" if node is app else main.view.TITLE,
            act=partial(app.run_action, binding.action, node),
        )


REPORT = "Write the report: one page, opened in the browser"
COMMAND, TOPIC, TITLE = 0.3, 0.2, 0.1
"""What kind of hit comes first where the words match equally well."""


EXACT, BEGINNING = 4.0, 2.0
"""The fitness of the same words, and of the start of a word."""


def fitness(query: str, text: str) -> float:
    """How well the text matches what was typed, for the order of hits: 4 for the same words, 3 for
    whole words in it, 2 for the start of a word, 1 for letters in a row, 0 otherwise."""
    sought = query.strip()
    return (
        EXACT if sought.casefold() == text.casefold() else float(MISMATCH - nearness(sought, text))
    )


def fitness_of_title(query: str, title: str) -> float:
    """The same for titles, among which there is a whole word for nearly everything: one in a longer
    title counts as the start of a word, so that commands and topics that begin with it come
    first."""
    fit = fitness(query, title)
    return fit if fit == EXACT else min(fit, BEGINNING)


def is_scattered(query: str, text: str) -> bool:
    """Whether all letters of what was typed are in the text in this order, blanks left aside."""
    letters = iter(text.casefold())
    return all(letter in letters for letter in query.casefold() if not letter.isspace())


class Commands(SystemCommandsProvider):
    """The commands for the palette, those first that contain what was typed as it stands."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, words, act, _ in self.app.get_system_commands(self.screen):
            does, _, key = title.rpartition(" · ")
            fit = max(fitness(query, does or title), EXACT * (query.strip() == key))
            if fit > 0:
                yield Hit(fit + COMMAND, matcher.highlight(title), act, title, words)
            elif is_scattered(query, title):
                yield Hit(COMMAND, Content(title), act, title, words)


class Finds(Provider):
    """Topics and articles for the command palette: each hit opens what it names. The report comes
    first."""

    async def discover(self) -> Hits:
        app = cast(Host, self.app)
        if not is_refused(app, "export"):
            yield Hit(1.0, REPORT, partial(app.action_export, True))

    async def search(self, query: str) -> Hits:
        app = cast(Host, self.app)
        session = app.latest
        if session is None:
            return
        model = app.choice.model_of(session)
        for rank, row in enumerate(matching(session.topics_of(model), query)[:TOPICS]):
            words = f"Topic, {share(row.share)}: {in_line(word for word, _ in row.words)}"
            fit = max(
                fitness(query, row.name), fitness(query, f"#{row.topic}"), 1.0
            )  # one of its words fits
            yield self._hit(
                fit + TOPIC - rank / 100,
                row.label,
                words,
                partial(app.open_topic, row.topic),
            )
        title = query.strip()
        if len(title) < LEAST:
            return
        try:
            articles = await app.watched.ask(
                lambda reader: reader.find_articles(title, TITLES), aside=True
            )
        except SessionError:
            return  # the status line says why the session cannot be read
        for article in articles:
            fit = fitness_of_title(query, article.title)
            words = f"{session.noun[:-1].capitalize()} of {plural(article.words, 'word')}"
            yield self._hit(fit + TITLE, article.title, words, partial(app.action_ask, article))

    def _hit(self, score: float, text: str, words: str, act: Callable[[], Awaitable[None]]) -> Hit:
        text, words = visible(text), visible(words)
        return Hit(score, Content(text), partial(self.app.call_later, act), text, escape(words))
