"""A wiki on loopback in many languages: short articles about water, music and the sky, made for the
tests."""

import random
import tomllib
from pathlib import Path
from urllib.parse import quote

from aiohttp import web

from benchmarks.served import serving
from tests.corpora import synthetic_corpus
from tests.wiki import FaultyApi, make_app
from wikitopics.crawler.embedded.corpus import SampleArticles

DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SUBJECTS = DATA["words"]
UNSPACED_SUBJECTS = DATA["unspaced"]
TITLES = DATA["titles"]


class Polyglot(FaultyApi):
    """A wiki in one language. Each article has four of its subject's words, so that none is
    frequent."""

    def __init__(self, language, size):
        super().__init__(SampleArticles(synthetic_corpus(20), size))
        self.language = language
        self.subjects = [subject.split() for subject in (SUBJECTS | UNSPACED_SUBJECTS)[language]]

    def wikitext(self, index):
        chosen = random.Random(index).sample(self.subjects[index % 3], 3)
        if self.language in UNSPACED_SUBJECTS:  # three of six words would be frequent
            chosen = [chosen[0]] * 3
        return (
            f"== 1 ==\n'''{chosen[0]}''': {chosen[1]}, [[{chosen[2]}|{chosen[0]}]] «{chosen[1]}» "
            "(1984)."
        )


def linked(language, index):
    """The titles that an article links to: two of its subject's eight, in turn, so that none is
    frequent."""
    titles = TITLES[language][index % 3].split(";")
    turn = index // 3
    return [titles[turn % 8], titles[(turn + 1 + turn // 8 % 7) % 8]]


class Linked(FaultyApi):
    """A wiki of which the links count: all its prose is the same but for them."""

    def __init__(self, language, size):
        super().__init__(SampleArticles(synthetic_corpus(20), size))
        self.language = language
        self.writer = self

    def wikitext(self, index):
        shown = linked(self.language, index)
        text = "".join(f"[[{t}#x|{t}]]。[[{t.replace(' ', '_')}]] [[Talk:{t}]] " for t in shown)
        return f"<ref>[[Portal]]</ref>'''1''' {text}[[File:A.jpg|[[Caption]]]]"

    def html(self, article):
        titles = [quote(title.replace(" ", "_")) for title in linked(self.language, article.index)]
        text = "".join(f'<a href="/wiki/{t}#x">x</a>。<a href="/wiki/{t}">x</a> ' for t in titles)
        notes = '<sup class="reference"><a href="/wiki/Portal">1</a></sup>'
        return f'<p>1 {text}<a href="/wiki/Talk:A">x</a>{notes}</p>'


def polyglot(language, size, asked=None, kind=Polyglot):
    """The address of such a wiki, which runs in a thread; ``asked`` gets every request's query."""

    @web.middleware
    async def note(request, handler):
        if asked is not None:
            asked.append(dict(request.query))
        return await handler(request)

    app = make_app(kind(language, size))
    app.middlewares.append(note)
    return serving(app)
