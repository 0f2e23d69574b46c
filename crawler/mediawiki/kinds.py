"""Wikis asked for their articles: by the Action API, by rendered pages, or by recent changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.addresses import (
    api_candidates,
    by_script,
    folder_of_wiki,
    is_wikimedia,
    language_api,
    wiki_address,
)
from wikitopics.crawler.licence import Licence, of_wiki
from wikitopics.crawler.mediawiki import FOUND_API
from wikitopics.crawler.source import Asked, Identity, PageKind
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.crawler.mediawiki.wiki import Wiki
    from wikitopics.crawler.source import Source


# Facts about the languages of wikis.

_OTHER_CODES = {"zh-yue": "yue", "zh-classical": "lzh", "simple": "en", "nb": "no"}
"""Codes of Wikipedias that are not those of their languages."""


def language_of(code: str) -> str:
    """The language of the Wikipedia with this code, e.g. "en" for "simple"."""
    name = code.strip().lower()
    return _OTHER_CODES.get(name, name)


def language_of_texts(code: str | None) -> str | None:
    """The language given for texts; None for None.

    Raises `BadSource` for anything but a code, such as a language's name.
    """
    if code is None:
        return None
    language = language_of(code)
    if not re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", language):
        raise BadSource(f"--lang {code}: give the code of a language, such as en or de")
    return language


_WIKIPEDIA = re.compile(r"([a-z-]+)(?:\.m)?\.wikipedia\.org")
_LONGEST_NAME = 100


def name_of_wiki(address: str) -> str:
    """The name under which a vocabulary of the wiki at this address is kept: a Wikipedia's code,
    otherwise the host, with the path if it leads to one of several wikis there.

    Raises `BadSource` for anything but an address.
    """
    url = wiki_address(address)
    host = (url.host or "").lower()
    if wikipedia := _WIKIPEDIA.fullmatch(host):
        code = wikipedia[1]
        return code if code == "simple" else language_of(code)
    name = f"{host}-{url.explicit_port or ''}-{folder_of_wiki(url.path)}".lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:_LONGEST_NAME]


ENGLISH = "en"
MANY_ARTICLES = 500_000
DUMP_ADVICE = (
    f"over {MANY_ARTICLES:,} articles through the API: Wikimedia prefers dumps for a whole "
    "wiki; use --source dump --dump FILE"
)

DOWNLOAD = (
    "about 4 kB an article, at most 2,400 MB an hour; --max-mb, --articles and --hours limit it"
)
"""How much a crawl of Wikipedia downloads: its rules allow at most 600,000 articles an hour."""

API_URL = Option(
    str,
    "api_url",
    "The address of another MediaWiki, from version 1.26 on: its api.php, or any of its pages.",
    metavar="URL",
    label="Other wiki",
)
LANG = Option(
    str,
    "lang",
    "Wikipedia in this language, or the language of the wiki at the address given, or of your "
    "documents. For any language but English, a vocabulary is built first, from the first "
    "articles, unless one is given.",
    metavar="CODE",
    default=ENGLISH,
    kept_as=API_URL.name,
    label="Language",
)
CONTACT = Option(
    str,
    "contact",
    "Your e-mail address or user page, sent to the wiki in the User-Agent; Wikimedia asks for it.",
    metavar="TEXT",
    scope="outside",
)
RPM = Option(
    int,
    "rpm",
    "The most requests a minute to the API, and the most for pages; 0 for no cap (default: on "
    "Wikimedia 200, and 480 for pages; elsewhere 60 for both together; on loopback 0).",
    metavar="N",
    least=0,
    most=1_000_000,
    scope="run",
)


class WikiKind(PageKind):
    """A MediaWiki, identified by the address from which its api.php is found."""

    options = (API_URL, LANG, CONTACT, RPM)
    asks_server = True

    def identity(self, asked: Asked) -> Identity:
        wikipedia = language_api(asked[LANG])
        address = asked.get(API_URL) or wikipedia
        wiki_address(address)  # raises if it is not an address
        return {API_URL.name: address}

    def language(self, asked: Asked) -> str | None:
        is_known = LANG in asked or API_URL not in asked  # otherwise that of a named wiki is asked
        return language_of(asked[LANG]) if is_known else None

    def vocabulary_name(self, asked: Asked) -> str:
        """The code for a Wikipedia, and the host for another wiki."""
        return name_of_wiki(self.identity(asked)[API_URL.name])

    def builds_words(self, asked: Asked) -> bool:
        return True

    def fault(self, identity: Identity) -> str:
        address = identity.get(API_URL.name)
        found_api = identity.get(FOUND_API, address)
        for key, value in ((API_URL.name, address), (FOUND_API, found_api)):
            if not isinstance(value, str):
                return f"{key} is not text"
            try:
                wiki_address(value)
            except BadSource as error:
                return f"{key}: {error}"
        return ""

    def address(self, identity: Identity, title: str, revision_id: int) -> str | None:
        """The address on the wiki itself, by the index.php beside its api.php."""
        try:
            api = api_candidates(identity.get(FOUND_API) or identity[API_URL.name])[0]
        except BadSource:
            return None
        return by_script(api.with_name("index.php"), title, revision_id)

    def licence(self, identity: Identity) -> Licence | None:
        """The licence of the wiki itself."""
        return of_wiki(wiki_address(identity[API_URL.name]))

    def wiki(self, identity: Identity) -> str:
        """The address of its api.php, or the first possible one."""
        return identity.get(FOUND_API) or str(api_candidates(identity[API_URL.name])[0])

    def needs_contact(self, identity: Identity) -> bool:
        """Whether it is one of Wikimedia's hosts, which ask for a contact."""
        return any(is_wikimedia(url.host or "") for url in api_candidates(identity[API_URL.name]))

    def download(self, identity: Identity) -> str:
        return DOWNLOAD if self.needs_contact(identity) else ""


class Api(WikiKind):
    """One pass through all articles."""

    name = "api"
    label = "Random articles of Wikipedia, through its API"
    has_links = True
    advice = (MANY_ARTICLES, DUMP_ADVICE)

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.mediawiki.api import ApiSource

        return ApiSource(_wiki(identity, asked))


class Html(WikiKind):
    """The same pass through rendered pages."""

    name = "html"
    label = "Rendered pages of a wiki, one article each"
    has_links = True

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.mediawiki.html import HtmlSource

        return HtmlSource(_wiki(identity, asked))


class Recent(WikiKind):
    """Articles being edited."""

    name = "recent"
    label = "Recent changes: the articles being edited right now"
    model_defaults: ClassVar = {"half_life": 20_000}

    def builds_words(self, asked: Asked) -> bool:
        """False: articles being edited recur, and are not a fair sample of a language."""
        return False

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.mediawiki.recent import RecentSource

        return RecentSource(_wiki(identity, asked))


def _wiki(identity: Identity, asked: Asked) -> Wiki:
    from wikitopics.crawler.mediawiki.wiki import Wiki

    return Wiki(
        identity[API_URL.name],
        stored_api=identity.get(FOUND_API),
        version=asked.version,
        contact=asked.get(CONTACT),
        rpm=asked.get(RPM),
        budget_folder=asked.budget_folder,
    )
