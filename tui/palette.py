"""The command palette: every key that applies now, and topics and articles by their names."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from typing import NamedTuple, cast

from textual.command import Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape
from textual.system_commands import SystemCommandsProvider

from wikitopics.session.errors import SessionError
from wikitopics.session.sources import singular
from wikitopics.session.wording import in_line
from wikitopics.tui.host import Host
from wikitopics.tui.main_screen import Main
from wikitopics.tui.terminal import is_refused
from wikitopics.tui.text import MISMATCH, nearness, plural, share, visible
from wikitopics.tui.topic_order import Search, matching

MOST_TOPICS = 8
"""The maximum number of topics found."""
MOST_TITLES = 12
"""The maximum number of articles found by their titles."""
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


WRITE_REPORT = "Write the report: one page, opened in the browser"

# What is added to the fitness of each kind of hit: where the words match equally well, commands
# come first, then topics, then titles.
COMMAND = 0.3
TOPIC = 0.2
TITLE = 0.1

EXACT = 4.0
"""The fitness of the same words."""
BEGINNING = 2.0
"""The fitness of the start of a word."""
ONE_OF_ITS_WORDS = 1.0
"""The least fitness of a topic that is found: at least one of its words matches."""


def fitness(query: str, text: str) -> float:
    """How well the text matches what was typed, for the order of hits: 4 for the same words, 3 for
    whole words in it, 2 for the start of a word, 1 for letters in a row, 0 otherwise."""
    sought = query.strip()
    if sought.casefold() == text.casefold():
        return EXACT
    # The other way round: `nearness` is 0 for whole words, and MISMATCH if the text does not match.
    return float(MISMATCH - nearness(sought, text))


def fitness_of_title(query: str, title: str) -> float:
    """How well a title matches what was typed: as `fitness`, but a whole word in a longer title
    counts as no more than the start of a word. Nearly every word is a whole word of some title, and
    commands and topics that begin with what was typed should come before those titles."""
    fit = fitness(query, title)
    return fit if fit == EXACT else min(fit, BEGINNING)


def is_scattered(query: str, text: str) -> bool:
    """Whether all letters of what was typed are in the text in this order, blanks left aside."""
    place = -1
    for letter in query.casefold():
        if not letter.isspace():
            place = text.casefold().find(letter, place + 1)
            if place == -1:
                return False
    return True


class Commands(SystemCommandsProvider):
    """The commands for the palette. Those that contain exactly what was typed come before those
    that only have its letters."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, words, act, _ in self.app.get_system_commands(self.screen):
            does, _, key = title.rpartition(" · ")
            if not does:  # a title without a key
                does = title
            fit = EXACT if query.strip() == key else fitness(query, does)
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
            yield Hit(1.0, WRITE_REPORT, partial(app.action_export, True))

    async def search(self, query: str) -> Hits:
        app = cast(Host, self.app)
        session = app.latest
        if session is None:
            return
        model = app.choice.model_of(session)
        found = matching(session.topics_of(model), Search(query))
        for rank, row in enumerate(found[:MOST_TOPICS]):
            words = f"Topic, {share(row.share)}: {in_line(word for word, _ in row.shown)}"
            fit = max(
                fitness(query, row.name),
                fitness(query, f"#{row.topic}"),
                ONE_OF_ITS_WORDS,
            )
            score = fit + TOPIC - rank / 100  # equally fit topics stay in their order
            yield self._hit(score, row.label, words, partial(app.open_topic, row.topic))
        title = query.strip()
        if len(title) < LEAST:
            return
        try:
            articles = await app.watched.ask(
                lambda reader: reader.find_articles(title, MOST_TITLES), aside=True
            )
        except SessionError:
            return  # the status line says why the session cannot be read
        for article in articles:
            score = fitness_of_title(query, article.title) + TITLE
            words = f"{singular(session.noun).capitalize()} of {plural(article.words, 'word')}"
            yield self._hit(score, article.called, words, partial(app.action_ask, article))

    def _hit(self, score: float, text: str, words: str, act: Callable[[], Awaitable[None]]) -> Hit:
        text = visible(text)
        return Hit(
            score,
            Content(text),
            partial(self.app.call_later, act),
            text,
            help=escape(visible(words)),
        )
