"""Finding the api.php of the wiki that has an address.

Several wikis may share a host, so an api.php that merely exists there may be another wiki's. It is
the right one if the page at the address names it, or if the wiki says that the address is one of
its own.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import unquote

from yarl import URL

from wikitopics.crawler.errors import TransientError, WikiRefused, WikiUnreachable
from wikitopics.crawler.http.addresses import api_candidates, is_wikimedia, wiki_address
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.quoting import Quoting
from wikitopics.crawler.http.wire import Reply, Wanted, value_at

_HEAD_BYTES = 200_000
"""The bytes of a page in which its wiki is looked for."""
_LINK = re.compile(r"<link\b([^<>]{1,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""(?<![\w-])([a-z]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)
_SCRIPT_PATH = re.compile(
    r'"wgScriptPath":"([^"<>]{0,200})"|\bwgScriptPath\s*=\s*"([^"<>]{0,200})"'
)
_API = "/api.php"
_OF_PAGE = Wanted(most_seconds=10.0, is_answer=False)
"""A page that hangs must leave some of the 30 s at the start for the api.php itself."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a page says about the api.php of its wiki."""

    page: URL
    """The address of the page, after redirects."""
    api: URL | None = None
    """The api.php that it names on its own host."""
    likely: URL | None = None
    """Where its api.php is likely to be, by a path that it names."""
    elsewhere: str = ""
    """The address of an api.php that it names on another host."""


def read_named(reply: Reply) -> Named:
    """What this page says, even if it is an error page: a wiki's page of a missing article names
    it, too."""
    head = reply.body[:_HEAD_BYTES].decode("utf-8", errors="replace")
    likely = _beside_scripts(head, reply.url)
    api = _edit_uri(head, reply.url)
    if api is None or reply.quote.knows(api.path):  # the address is stored
        return Named(reply.url, likely=likely)
    here = _here(reply.url, api.path)
    if _is_on(api, reply.url):
        return Named(reply.url, api=here)
    return Named(reply.url, likely=here, elsewhere=reply.quote(str(api)))


def _edit_uri(head: str, page: URL) -> URL | None:
    """The api.php that the page names as its EditURI."""
    for link in _LINK.finditer(head):
        attributes = {}
        for name, in_double, in_single, bare in _ATTRIBUTE.findall(link[1]):
            attributes[name.lower()] = in_double or in_single or bare
        if attributes.get("rel", "").strip().lower() != "edituri":
            continue
        try:
            api = page.join(URL(html.unescape(attributes.get("href", "")).strip()))
            api.host  # noqa: B018 (raises if it is not valid IDNA)
        except ValueError:
            continue
        is_plain = api.scheme in ("http", "https") and api.user is None and api.password is None
        if is_plain and api.path.endswith(_API):
            return api.with_query(None).with_fragment(None)
    return None


def _beside_scripts(head: str, page: URL) -> URL | None:
    """The api.php in the folder of scripts that the page names."""
    match = _SCRIPT_PATH.search(head)
    if match is None:
        return None
    folder = (match[1] or match[2] or "").replace("\\/", "/")
    if re.fullmatch(r"(/[\w.~-]+)*", folder) is None:
        return None
    return _here(page, folder + _API)


def _here(page: URL, path: str) -> URL:
    """This path on the host of ``page``, whatever it contains."""
    return page.origin().with_path("/" + path.lstrip("/"))


def _is_on(api: URL, page: URL) -> bool:
    """Whether both are on one host; with http and https, ports may be the usual ones of each."""
    if api.host != page.host:
        return False
    return api.port == page.port or (api.is_default_port() and page.is_default_port())


def is_page_of(address: URL, general: Mapping[str, Any], api: URL) -> bool:
    """Whether ``address`` belongs to the wiki with this api.php and ``general`` siteinfo.

    It may be a folder that contains the wiki, something in its folder of scripts, or a page.
    """
    path = address.path
    scripts = api.path.removesuffix("api.php")
    pages = _pages_path(general.get("articlepath"))
    folder = path.rstrip("/") + "/"
    contains_pages = pages == "" or pages.startswith(folder)
    if scripts.startswith(folder) and contains_pages:
        return True
    if _is_under(path, pages):
        return True
    if scripts != "/":
        return folder.startswith(scripts)
    # Everything is in the root's folder, but only scripts there are certain to be its wiki's.
    return re.match(r"/\w+\.php(/|$)", path) is not None


def _pages_path(article_path: object) -> str:
    """What stands before the title in a wiki's path of articles; "" if that is not known."""
    if not isinstance(article_path, str) or "$1" not in article_path:
        return ""
    path = re.sub(r"^(https?:)?//[^/]*", "", unquote(article_path))
    before, _, _ = path.partition("$1")
    return before if before.startswith("/") else ""


def _is_under(path: str, pages: str) -> bool:
    """Whether ``path`` can be that of a page, by what stands before a title."""
    if "?" in pages:
        script, _, _ = pages.partition("?")
        return path == script
    if pages == "/":  # all of the host: but a further folder may be another wiki's
        return "/" not in path[1:]
    return pages != "" and f"{path.rstrip('/')}/".startswith(pages)


def read_general(reply: Mapping[str, Any], url: URL) -> dict[str, Any]:
    """What a siteinfo reply says about the wiki in general. Raises `TransientError` if it is not
    one."""
    general = value_at(reply, "query", "general")
    if not isinstance(general, dict):
        raise TransientError(f"{url.host} answers, but not as a MediaWiki does")
    if not str(general.get("generator", "")).startswith("MediaWiki"):
        raise TransientError(f"{url.host} answers, but is not a MediaWiki")
    return general


Site = tuple[dict[str, Any], URL]
"""A siteinfo reply, and the address of the api.php that sent it, after redirects."""


class ApiSearch:
    """The search for the api.php of the wiki that has ``address``.

    ``stored``: the api.php found earlier, which is tried first if it is on the same host. Raises
    `BadSource`.
    """

    def __init__(self, address: str, stored: str | None) -> None:
        self.address = wiki_address(address)
        places = api_candidates(address)
        is_named = len(places) == 1
        self._certain = places if is_named else []
        """Places that are the right one if there is an api.php, unless they have been ruled out."""
        self._possible = [] if is_named else places
        """Places where an api.php may be another wiki's, unless they have been ruled out."""
        if stored is not None and wiki_address(stored).host == self.address.host:
            self._certain = [*dict.fromkeys([wiki_address(stored), *self._certain])]
        self._asks_page = not is_named and not is_wikimedia(self.address.host or "")
        self._named = Named(self.address)
        self._tried: dict[URL, str] = {}
        """The addresses that were tried, each with the reason why it is not the api.php."""
        self._refused: WikiRefused | None = None

    async def find(
        self,
        client: Client,
        query: Mapping[str, str],
        read: Callable[[Reply], dict[str, Any]],
    ) -> Site | TransientError:
        """The answer to ``query``, for siteinfo, of the right api.php; or why it may yet be found.

        Raises `WikiUnreachable` if it cannot be found, and `WikiRefused`.
        """
        passing = None if self._certain else await self._ask_page(client)
        places = self._certain or self._possible
        for place in places.copy():
            url = place.with_query(dict(query))
            try:
                return await client.once(url, partial(self._read, place, read))
            except WikiRefused as refused:
                if places is self._certain:
                    raise
                self._refused = self._refused or refused
                self._tried[place] = str(refused)
                places.remove(place)
            except TransientError as error:
                self._tried[place] = error.text
                if error.lasting:
                    places.remove(place)
                else:
                    passing = error
        if passing is not None:
            return replace(passing, text=self._told(client.quote))
        if places is self._certain and self._possible:
            return await self.find(client, query, read)
        raise self._refused or WikiUnreachable(self._told(client.quote))

    def _read(self, place: URL, read: Callable[[Reply], dict[str, Any]], reply: Reply) -> Site:
        """The answer of the api.php at ``place``. Raises `TransientError` if it is not the right
        one."""
        is_certain = place in self._certain
        if reply.status in (404, 410) and not is_certain:
            raise TransientError(str(reply.status), lasting=True)
        site = read(reply)
        general = read_general(site, reply.url)
        page = self._named.page
        is_folder = page.path == f"{self.address.path}/"  # so the server says, by a redirect
        addresses = (page,) if is_folder else (self.address, page)
        if not is_certain and not any(is_page_of(each, general, reply.url) for each in addresses):
            pages = reply.quote(str(general.get("articlepath")), 100)
            raise TransientError(f"another wiki, with its articles at {pages}", lasting=True)
        return site, reply.url.with_query(None)

    async def _ask_page(self, client: Client) -> TransientError | None:
        """Ask the page at the address for its api.php, once; returns an error that may pass."""
        if not self._asks_page:
            return None
        try:
            named = await client.once(self.address, read_named, _OF_PAGE)
        except WikiRefused as refused:  # its API may answer nevertheless
            self._asks_page = False
            self._tried[self.address] = str(refused)
            return None
        except TransientError as error:
            self._asks_page = not error.lasting
            self._tried[self.address] = error.text
            return None if error.lasting else error
        self._asks_page = False
        self._named = named
        self._tried.pop(self.address, None)
        self._certain = [] if named.api is None else [named.api]
        likely = [] if named.likely is None else [named.likely]
        beside = [place for place in api_candidates(str(named.page)) if place not in self._tried]
        self._possible = [*dict.fromkeys([*likely, *self._possible, *beside])]
        return None

    def _told(self, quote: Quoting) -> str:
        """Why no api.php has been found so far."""
        if len(self._tried) == 1:
            return next(iter(self._tried.values()))
        by_reason: dict[str, list[str]] = {}
        for place, reason in self._tried.items():
            by_reason.setdefault(reason, []).append(quote(place.path, 100))
        tried = "; ".join(f"{', '.join(paths)} ({reason})" for reason, paths in by_reason.items())
        other = ""
        if self._named.elsewhere:
            other = (
                f"; the page names {self._named.elsewhere}, on another host, which is not followed"
            )
        address = quote(str(self.address), 100)
        return (
            f"no API found for {address}: tried {tried}{other}; name the wiki's api.php with "
            "--api-url"
        )
