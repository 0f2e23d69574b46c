"""Requests to one MediaWiki: finding its api.php, queries with continuations, texts of known pages."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from yarl import URL

from wikitopics.crawler.http.addresses import api_candidates
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits, limits_for, wikimedia_page_limits
from wikitopics.crawler.http.wire import Clock, Reply, RequestBounds
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass
from wikitopics.crawler.mediawiki.replies import Answer, Gathering, read_answer, read_api
from wikitopics.crawler.mediawiki.siteinfo import FOUND_API, SITEINFO, read_siteinfo
from wikitopics.crawler.source import Activity, SourceInfo, TransientError

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
Read = Callable[[Reply], Answer]


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
        self._site: SourceInfo | None = None

    def _limits_of(self, url: URL) -> RateLimits:
        """The limits on a request to this address of the wiki."""
        return self.limits if url.path.endswith("/api.php") else self.page_limits

    async def open(self) -> SourceInfo:
        """The wiki's siteinfo, requested once, from the first of the possible addresses that is an api.php.

        Raises `WikiUnreachable` if there is none within 30 s.
        """

        def read(reply: Reply) -> SourceInfo:
            return read_siteinfo(read_api(reply), reply.url)

        tries = 0
        while self._site is None:
            for url in self._places.copy():
                try:
                    self._site = await self.client.once(url.with_query(dict(SITEINFO)), read)
                except TransientError as caught:
                    if caught.lasting and len(self._places) > 1:
                        self._places.remove(url)
                    else:
                        error = caught
                else:
                    self.api = URL(self._site.identity[FOUND_API])  # after redirects
                    return self._site
            tries += 1
            await self.client.backoff(error, tries)
        return self._site

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    def url(self, query: Query) -> URL:
        """The address of this query, once the wiki is open."""
        assert self.api is not None
        return self.api.with_query({**QUERY, **query})

    async def ask(self, query: Query, read: Read = read_answer) -> Answer:
        """A valid answer to ``query``; ``read`` is that of the pass that ``query`` continues."""
        return await self.client.fetch(self.url(query), read)

    async def gather(
        self, query: Query, answer: Answer, read: Read = read_answer
    ) -> tuple[Gathering, Answer]:
        """The pages of ``answer`` to ``query`` and of all its continuations, and the last answer.

        That one is not complete if the wiki makes no progress, because one text is larger than a whole reply
        may be.
        """
        gathering = Gathering()
        gathering.add(answer.pages)
        seen: list[Query] = []
        while answer.continuation is not None and not answer.complete and len(seen) <= _MOST_REPLIES:
            seen.append(answer.continuation)
            answer = await self.ask({**query, **answer.continuation}, read)
            if not gathering.add(answer.pages) and answer.continuation in seen:
                break
        return gathering, answer

    def step(self, crawl: CrawlPass, continuation: Query | None, gathering: Gathering) -> None:
        """Advance the pass beyond a batch, and leave out pages that it returned before."""
        new = crawl.step(continuation, gathering.ids())
        gathering.leave_out(set(gathering.ids()) - new, "repeated")
        if crawl.repeats:
            self.client.note("the wiki keeps returning the same articles: the lap ends here")

    async def fill_in(self, gathering: Gathering, continuation: Query | None) -> None:
        """Fetch texts of the listed pages by their ids, giving up the one at which the wiki does not go on,
        and any others that never come."""
        while left := gathering.without_text():
            stuck = _stuck_page(continuation or {})
            gathering.leave_out([stuck if stuck in left else left[0]], "no text")
            continuation = None
            while ids := gathering.without_text():
                answer = await self.ask({"pageids": "|".join(map(str, ids[:MOST_PAGES])), **TEXTS})
                if not gathering.add(answer.pages):
                    continuation = answer.continuation
                    break

    async def by_title(self, titles: Sequence[str]) -> Gathering:
        """The pages with these titles, at most 50; missing ones and redirects are not articles."""
        query = {**TEXTS, "titles": "|".join(titles), "prop": TEXTS["prop"] + "|info"}
        gathering, answer = await self.gather(query, await self.ask(query))
        if not answer.complete:
            await self.fill_in(gathering, answer.continuation)
        return gathering


def _stuck_page(cursor: Query) -> int | None:
    """The page id at which ``rvcontinue`` ("page|revision") is."""
    first = cursor.get("rvcontinue", "").partition("|")[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 20 else None
