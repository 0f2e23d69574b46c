"""Wikis that are asked for their articles: by the Action API, by rendered pages, by their recent changes."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from crawler.kind import Asked, Identity, PageKind
from crawler.options import Option

if TYPE_CHECKING:
    from crawler.source import Source
    from crawler.wiki import Wiki

ENGLISH = "en"
MANY_ARTICLES = 500_000
DUMP_ADVICE = (
    f"over {MANY_ARTICLES:,} articles by the API: for a whole wiki Wikimedia prefers dumps, "
    "with --source dump --dump FILE"
)

LANG = Option(
    name="lang",
    metavar="CODE",
    help="Wikipedia in this language, e.g. de; needs a --vocab.",
    kept_as="api_url",
    label="Language",
)
API_URL = Option(name="api_url", metavar="URL", help="The wiki (default: English Wikipedia).")
CONTACT = Option(
    name="contact",
    metavar="TEXT",
    help="Your e-mail address or user page, sent to the wiki in the User-Agent; Wikimedia asks for it.",
    scope="outside",
)
RPM = Option(
    name="rpm",
    metavar="N",
    help="Requests a minute, 0 for no cap (default: 200 on Wikimedia, 60 elsewhere, 0 on loopback).",
    form="whole",
    least=0,
    most=1_000_000,
    scope="run",
)


class WikiKind(PageKind):
    """A MediaWiki, named by the address from which its api.php is found."""

    options = (API_URL, LANG, CONTACT, RPM)

    def identity(self, asked: Asked) -> Identity:
        from crawler.addresses import language_api
        from crawler.errors import BadSource

        address, language = asked.text(API_URL.name), asked.text(LANG.name)
        if address and language:
            raise BadSource("--api-url and --lang name two wikis: give one")
        return {API_URL.name: address or language_api(language or ENGLISH)}

    def fault(self, identity: Identity) -> str:
        return "" if isinstance(identity.get(API_URL.name), str) else f"{API_URL.name} is no text"

    def needs_contact(self, identity: Identity) -> bool:
        """Wikimedia's hosts ask for it."""
        from crawler.addresses import api_candidates
        from crawler.limits import is_wikimedia

        return any(is_wikimedia(url.host or "") for url in api_candidates(identity[API_URL.name]))

    def open(self, identity: Identity, asked: Asked) -> Source:
        from crawler.wiki import Wiki

        return self.source(
            Wiki(
                identity[API_URL.name],
                version=asked.version,
                contact=asked.text(CONTACT.name),
                rpm=asked.whole(RPM.name),
                budget_folder=asked.budget_folder,
            )
        )

    @abstractmethod
    def source(self, wiki: Wiki) -> Source:
        """What reads the articles of this wiki."""


class Api(WikiKind):
    """One lap through all articles."""

    name = "api"
    label = "Wikipedia by its API, random articles, politely"
    advice = (MANY_ARTICLES, DUMP_ADVICE)

    def source(self, wiki: Wiki) -> Source:
        from crawler.sources.api import ApiSource

        return ApiSource(wiki)


class Html(WikiKind):
    """The same lap through rendered pages."""

    name = "html"
    label = "Rendered pages of a wiki, one by one"

    def source(self, wiki: Wiki) -> Source:
        from crawler.sources.html import HtmlSource

        return HtmlSource(wiki)


class Recent(WikiKind):
    """What is being edited."""

    name = "recent"
    label = "Recent changes: the articles being edited right now"

    def source(self, wiki: Wiki) -> Source:
        from crawler.sources.recent import RecentSource

        return RecentSource(wiki)
