"""Requests to one MediaWiki: finding its api.php, queries with continuations, texts of known pages."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from yarl import URL

from wikitopics.crawler.errors import TransientError
from wikitopics.crawler.http.addresses import api_candidates
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.limits import RateLimits, limits_for, wikimedia_page_limits
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.replies import entries, read_api, read_continue
from wikitopics.crawler.mediawiki.siteinfo import FOUND_API, SITEINFO, SiteInfo, read_siteinfo
from wikitopics.crawler.source import Activity

MOST_PAGES = 50
"""The API returns at most this many pages with content per reply to clients without an account."""
QUERY: Mapping[str, str] = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
TEXTS: Mapping[str, str] = {
    "prop": "revisions|pageprops",
    "ppprop": "disambiguation",
    "rvprop": "ids|timestamp|content",
    "rvslots": "main",
}
_MOST_REPLIES = 4 * MOST_PAGES
"""The most replies for one batch: more means that the wiki leads us in circles."""
Query = Mapping[str, str]
Answer = tuple[dict[str, Any], dict[str, str] | None]
"""A reply and the parameters that continue it, None at the end."""


class Wiki:
    """A MediaWiki at ``address`` (its api.php, or any address from which it can be found), and its client.

    ``rpm``: requests a minute, None for the host's default, 0 for no cap. ``budget_folder``: where this
    user's trainers share Wikimedia's budget. ``limits`` replaces the rules that follow from the host's name;
    if they are Wikimedia's, its rules for pages apply too. Raises `BadSource` and `ContactMissing` at once.
    """

    def __init__(
        self,
        address: str,
        *,
        version: str,
        contact: str | None = None,
        rpm: int | None = None,
        budget_folder: Path | None = None,
        limits: RateLimits | None = None,
        clock: Clock | None = None,
        bounds: RequestBounds | None = None,
    ) -> None:
        self._places = api_candidates(address)
        self.host = self._places[0].host or ""
        self.limits = limits or limits_for(self.host, rpm)
        """The limits on requests to the API; those on pages may differ."""
        self.page_limits = wikimedia_page_limits(rpm) if self.limits.wikimedia else self.limits
        self.activity = Activity()
        self.client = Client(
            self.limits,
            self.activity,
            version=version,
            contact=contact,
            limits_of=self._limits_of,
            clock=clock,
            budget_folder=budget_folder,
            bounds=bounds,
        )
        self.api: URL | None = None
        """The api.php, once found."""
        self._site: SiteInfo | None = None

    def _limits_of(self, url: URL) -> RateLimits:
        """The limits on a request to this address of the wiki."""
        return self.limits if url.path.endswith("/api.php") else self.page_limits

    async def open(self) -> SiteInfo:
        """The wiki's siteinfo, requested once.

        Raises `WikiUnreachable` if there is none within 30 s.
        """
        if self._site is None:
            self._site = await self._find()
        return self._site

    @property
    def identity(self) -> Mapping[str, str]:
        """What a session stores of it once it is found, as `WikiKind` says."""
        return {FOUND_API: str(self.api)}

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _find(self) -> SiteInfo:
        """Find out which of the possible addresses is the api.php; returns the siteinfo."""
        tries = 0
        while True:
            for url in self._places.copy():
                try:
                    self.api, site = await self.client.once(url.with_query(dict(SITEINFO)), _read_site)
                except TransientError as caught:
                    if caught.lasting and len(self._places) > 1:
                        self._places.remove(url)
                    else:
                        error = caught
                else:
                    return site
            tries += 1
            await self.client.backoff(error, tries)

    async def ask(
        self,
        query: Query | Callable[[], Query],
        on_error: Callable[[TransientError], None] | None = None,
        *,
        crawl: CrawlPass | None = None,
    ) -> Answer:
        """One valid reply to ``query``; if that is a function, it is called again for every try.

        ``crawl``: the pass that ``query`` continues.
        """
        assert self.api is not None
        api = self.api
        sent: Query = {}

        def url() -> URL:
            nonlocal sent
            sent = query() if callable(query) else query
            return api.with_query({**QUERY, **sent})

        def read(reply: Reply) -> Answer:
            value = read_api(reply)
            going_on = read_continue(value)
            complete = "batchcomplete" in value
            if going_on is None and not complete:
                raise TransientError("the wiki's reply is neither complete nor continued")
            listed = len(entries(value))
            if crawl is not None:
                crawl.check(going_on, complete=complete, listed=listed, limit=int(sent["grnlimit"]))
            return value, going_on

        return await self.client.fetch(url, read, on_error)

    async def ask_on(
        self, gathering: Gathering, query: Query, answer: Answer, crawl: CrawlPass | None = None
    ) -> tuple[Query, Answer | None]:
        """Follow the continuations of ``answer`` to ``query`` until the batch is complete.

        Returns the last parameters of the continuation and the complete answer; None instead if the wiki
        makes no progress, because one text is larger than a whole reply may be.
        """
        seen: list[Query] = []
        while "batchcomplete" not in answer[0]:
            going_on = answer[1]
            assert going_on is not None  # ensured by ask
            if len(seen) > _MOST_REPLIES:
                return going_on, None
            seen.append(going_on)
            answer = await self.ask({**query, **going_on}, crawl=crawl)
            if not gathering.add(answer[0]) and answer[1] in seen:
                return going_on, None
        return (seen[-1] if seen else {}), answer

    def step(self, crawl: CrawlPass, going_on: Query | None, gathering: Gathering) -> None:
        """Advance the pass beyond a batch, and leave out pages that it returned before."""
        new = crawl.step(going_on, gathering.ids())
        gathering.leave_out(set(gathering.ids()) - new, "repeated")
        if crawl.repeats:
            self.client.note("the wiki keeps returning the same articles: the lap ends here")

    async def fill_in(self, gathering: Gathering, stuck: int | None) -> None:
        """Fetch texts of the listed pages by their ids, giving up ``stuck`` and any others that never
        come."""
        while left := gathering.without_text():
            gathering.give_up(stuck if stuck in left else left[0])
            stuck = None
            while ids := gathering.without_text():
                reply, going_on = await self.ask({"pageids": "|".join(map(str, ids[:MOST_PAGES])), **TEXTS})
                if not gathering.add(reply):
                    stuck = stuck_page(going_on or {})
                    break

    async def by_title(self, titles: Sequence[str]) -> Gathering:
        """The pages with these titles, at most 50; missing ones and redirects are not articles."""
        gathering = Gathering()
        query = {**TEXTS, "titles": "|".join(titles), "prop": TEXTS["prop"] + "|info"}
        answer = await self.ask(query)
        gathering.add(answer[0])
        going_on, complete = await self.ask_on(gathering, query, answer)
        if complete is None:
            await self.fill_in(gathering, stuck_page(going_on))
        return gathering


def stuck_page(cursor: Query) -> int | None:
    """The page id at which ``rvcontinue`` ("page|revision") is."""
    first = cursor.get("rvcontinue", "").partition("|")[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 20 else None


def _read_site(reply: Reply) -> tuple[URL, SiteInfo]:
    """The api.php, after redirects, and the wiki's siteinfo."""
    return reply.url.with_query(None), read_siteinfo(read_api(reply), reply.url)
