"""Articles by the Action API: one lap through all of them in random order, without replacement.

`generator=random` lists consecutive pages in the wiki's fixed random order from a random start;
its cursor ``rand|start|id|flag`` goes on from there, wraps around (flag 1) and ends where it began.
The cursor is the whole crawl position.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from yarl import URL

from crawler.addresses import api_candidates
from crawler.client import Client
from crawler.clock import Clock
from crawler.errors import BadSource, WikiUnreachable
from crawler.limits import Manners, manners_for
from crawler.pace import Pace
from crawler.page import Activity, PageBatch, Position, SourceInfo
from crawler.pages import Gathering, read_continue
from crawler.prefetch import ahead
from crawler.replies import read_api
from crawler.siteinfo import SITEINFO, SiteInfo, read_siteinfo
from crawler.wire import Reply, Trouble, WireLimits

MOST_PAGES = 50
"""The API gives no more pages with content in one reply to clients without an account."""
_QUERY: Mapping[str, str] = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
_TEXTS: Mapping[str, str] = {
    "prop": "revisions|pageprops",
    "ppprop": "disambiguation",
    "rvprop": "ids|timestamp|content",
    "rvslots": "main",
}
_MOST_REPLIES = 4 * MOST_PAGES
"""For one batch: more means that the wiki leads us round in circles."""


class ApiSource:
    """All articles of the wiki at ``api_url`` (its api.php, or any address from which to find it).

    ``rpm``: requests a minute, None for the host's default, 0 for no cap. ``manners`` replaces the
    rules that the host's name would give. Raises :class:`~crawler.errors.BadSource` and
    :class:`~crawler.errors.ContactMissing` at once.
    """

    def __init__(
        self,
        api_url: str,
        *,
        version: str,
        contact: str | None = None,
        rpm: int | None = None,
        batch_pages: int = MOST_PAGES,
        name: str | None = None,
        manners: Manners | None = None,
        clock: Clock | None = None,
        pace: Pace | None = None,
        limits: WireLimits | None = None,
    ) -> None:
        self.activity = Activity(batch_pages=min(batch_pages, MOST_PAGES))
        self._candidates = api_candidates(api_url)
        host = self._candidates[0].host or ""
        self.client = Client(
            manners or manners_for(host, rpm),
            self.activity,
            version=version,
            contact=contact,
            clock=clock,
            pace=pace,
            limits=limits,
        )
        self._name = name
        self._batch_pages = min(batch_pages, MOST_PAGES)
        self.url: URL | None = None
        """The api.php, once opened."""
        self.site: SiteInfo | None = None
        """Names of namespaces and the like, once opened."""

    async def open(self) -> SourceInfo:
        """Find the wiki's api.php and ask it who it is."""
        if self.site is None:
            self.url, self.site = await find_wiki(self.client, self._candidates)
        site = self.site
        return SourceInfo(self._name or site.name, site.articles, site.file_names, site.category_names)

    async def close(self) -> None:
        await self.client.close()

    def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The lap from ``position`` on; each reply is read while the next is on its way."""
        return ahead(self._lap(_cursor_of(position)))

    async def _lap(self, cursor: dict[str, str] | None) -> AsyncGenerator[PageBatch]:
        await self.open()
        while cursor is not None:
            gathering = Gathering()
            cursor = await self._gather(cursor, gathering)
            pages = gathering.pages()
            position: Position = {"finished": True} if cursor is None else {"cursor": cursor}
            yield PageBatch(pages, position, len(gathering) - len(pages), lap_share(cursor))

    async def _gather(self, start: dict[str, str], gathering: Gathering) -> dict[str, str] | None:
        """Fill one batch from the cursor ``start``; the cursor behind it, None at the lap's end."""
        generator = {
            "generator": "random",
            "grnnamespace": "0",
            "grnlimit": str(self._batch_pages),
        }
        sent, seen = start, [start]
        while True:
            reply, going_on = await self._ask({**generator, **_TEXTS, **sent})
            news = gathering.add(reply)
            if "batchcomplete" in reply:
                return going_on
            assert going_on is not None  # _ask saw to it
            if (not news and going_on in seen) or len(seen) > _MOST_REPLIES:
                break
            seen.append(going_on)
            sent = going_on
        # One text is larger than a whole reply may be: fetch the others by id, then step over the batch.
        await self._gather_by_id(gathering, stuck_page(sent))
        batch = {key: value for key, value in sent.items() if key.startswith("grn")}
        _, going_on = await self._ask({**generator, **batch})
        return going_on

    async def _gather_by_id(self, gathering: Gathering, stuck: int | None) -> None:
        """Texts of listed pages one reply at a time, giving up whatever stops it."""
        while left := gathering.without_text():
            gathering.give_up(stuck if stuck in left else left[0])
            stuck = None
            sent: dict[str, str] = {}
            while ids := gathering.without_text():
                chosen = "|".join(map(str, ids[:MOST_PAGES]))
                reply, going_on = await self._ask({"pageids": chosen, **_TEXTS})
                if not gathering.add(reply):
                    stuck = stuck_page(going_on or sent)
                    break

    async def _ask(self, parameters: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str] | None]:
        """One valid reply to a query and its continuation."""
        assert self.url is not None
        url = self.url.with_query({**_QUERY, **parameters})

        def read(reply: Reply) -> tuple[dict[str, Any], dict[str, str] | None]:
            value = read_api(reply)
            going_on = read_continue(value)
            if going_on is None and "batchcomplete" not in value:
                raise Trouble("the wiki's reply is neither complete nor continued")
            if (
                "batchcomplete" in value
                and going_on
                and going_on.get("grncontinue", "") == parameters.get("grncontinue")
            ):
                raise Trouble("the wiki's cursor does not move")
            return value, going_on

        return await self.client.fetch(url, read)


def _cursor_of(position: Position | None) -> dict[str, str] | None:
    """The parameters to send first, None where the lap is over."""
    if position is None:
        return {}
    if position.get("finished") is True:
        return None
    cursor = position.get("cursor")
    if not isinstance(cursor, Mapping) or not all(
        isinstance(k, str) and isinstance(v, str) for k, v in cursor.items()
    ):
        raise BadSource("the saved crawl position belongs to another kind of source")
    return dict(cursor)


def lap_share(cursor: Mapping[str, str] | None) -> float | None:
    """How much of the lap lies behind ``cursor``, 0 to 1; None where it does not say."""
    if cursor is None:
        return 1.0
    fields = cursor.get("grncontinue", "").split("|")
    try:
        begin, here, wrapped = float(fields[0]), float(fields[1]), fields[3] == "1"
    except (ValueError, IndexError):
        return None
    share = here - begin + (1.0 if wrapped else 0.0)
    return min(max(share, 0.0), 1.0) if share == share else None


def stuck_page(cursor: Mapping[str, str]) -> int | None:
    """The page id at which ``rvcontinue`` ("page|revision") stands."""
    first = cursor.get("rvcontinue", "").partition("|")[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 20 else None


async def find_wiki(client: Client, candidates: list[URL]) -> tuple[URL, SiteInfo]:
    """Which of ``candidates`` is a MediaWiki's api.php, and what it says of itself.

    Raises :class:`~crawler.errors.WikiUnreachable` where there is none within 30 s.
    """
    places, tries = list(candidates), 0
    while True:
        for url in places.copy():
            try:
                return url, await client.once(url.with_query(dict(SITEINFO)), siteinfo_reader(url))
            except WikiUnreachable:
                places.remove(url)
                if not places:
                    raise
            except Trouble as error:
                trouble = error
        tries += 1
        await client.endure(trouble, tries)


def siteinfo_reader(url: URL) -> Callable[[Reply], SiteInfo]:
    """Reads a siteinfo reply from ``url``."""

    def read(reply: Reply) -> SiteInfo:
        return read_siteinfo(read_api(reply), url)

    return read
