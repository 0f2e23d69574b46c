"""The embedded wiki."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from wikitopics.crawler.source import SAMPLE, Asked, Identity, Licence, PageKind
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.crawler.source import Source

WIKI_SIZE = Option(
    int,
    "wiki_size",
    "Articles of the embedded wiki (default: its 20,000 texts, each once). Beyond those it adds "
    "copies, resampled from their words.",
    metavar="N",
    least=1,
    most=10**12,
)


class Demo(PageKind):
    """A wiki of this many articles, served by this machine to itself."""

    name = "demo"
    label = "The embedded sample: no network, no settings"
    options = (WIKI_SIZE,)
    presets: ClassVar = {"topics": "50", "batch_size": "256", "documents": 20_000, "held_out": 200}
    command = "demo"
    asks_server = True
    remark = (
        "real word counts of 20,000 articles, served by this machine to itself; nothing comes from the "
        "internet"
    )

    def identity(self, asked: Asked) -> Identity:
        from wikitopics.crawler.embedded.corpus import SAMPLE_ARTICLES

        enough = (asked.articles or 0) + (asked.held_out or 0)
        return {WIKI_SIZE.name: asked.get(WIKI_SIZE) or max(SAMPLE_ARTICLES, enough)}

    def fault(self, identity: Identity) -> str:
        size = identity.get(WIKI_SIZE.name)
        return "" if type(size) is int and size >= 1 else f"{WIKI_SIZE.name} is not a number of articles"

    def wiki(self, identity: Identity) -> str:
        """The same for all sizes: a larger wiki has the same articles, and more."""
        return self.name

    def licence(self, identity: Identity) -> Licence:
        """The sample's licence."""
        return SAMPLE

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.embedded.launch import DemoSource

        return DemoSource(version=asked.version, size=identity[WIKI_SIZE.name])

    def shown(self, source_name: str) -> str:
        return "embedded sample (demo)"
