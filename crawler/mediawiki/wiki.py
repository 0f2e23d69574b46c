"""Requests to one MediaWiki: finding its api.php, and queries with their continuations."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from yarl import URL

from wikitopics.crawler import page
from wikitopics.crawler.errors import TransientError
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.http.rules import RateLimits, limits_for, wikimedia_page_limits
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.mediawiki.finding import ApiSearch
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.replies import QueryAnswer, read_answer, read_api
from wikitopics.crawler.mediawiki.siteinfo import SITEINFO, read_siteinfo
from wikitopics.crawler.source import Activity

MOST_PAGES = 50
"""The API returns at most this many pages with content per reply to clients without an account."""
QUERY: Mapping[str, str] = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "maxlag": "5",
}
TEXTS: Mapping[str, str] = {
    "prop": "revisions|pageprops",
    "ppprop": "disambiguation",
    "rvprop": "ids|timestamp|content",
    "rvslots": "main",
}
_MOST_REPLIES = 4 * MOST_PAGES
"""The most replies for one batch: more mean that the wiki is going in circles."""
Query = Mapping[str, str]
ReadAnswer = Callable[[Reply], QueryAnswer]
"""Reads a reply, as `read_answer` does."""


class Wiki:
    """A MediaWiki at ``address`` (its api.php, or any address from which it can be found), and its
    client.

    ``stored_api``: the api.php that was found earlier, tried first if it is on the same host.
    ``rpm``: requests a minute, None for the host's default, 0 for no cap. ``budget_folder``: where
    this user's trainers share Wikimedia's budget. ``limits`` replaces the rules that follow from
    the host's name; if they are Wikimedia's, its rules for pages apply too. Raises `BadSource` and
    `ContactMissing` at once.
    """

    def __init__(
        self,
        address: str,
        *,
        stored_api: str | None = None,
        version: str,
        contact: str | None = None,
        rpm: int | None = None,
        budget_folder: Path | None = None,
        limits: RateLimits | None = None,
        clock: Clock | None = None,
        bounds: RequestBounds | None = None,
    ) -> None:
        self._search = ApiSearch(address, stored_api)
        self.host = self._search.address.host or ""
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
        self._site: page.SourceInfo | None = None

    def _limits_of(self, url: URL) -> RateLimits:
        return self.limits if url.path.endswith("/api.php") else self.page_limits

    async def open(self) -> page.SourceInfo:
        """The wiki's siteinfo, requested once, from the api.php that belongs to its address.

        Raises `WikiUnreachable` if there is none within 30 s, or if the wiki is too old.
        """
        tries = 0
        while self._site is None:
            found = await self._search.find(self.client, SITEINFO, read_api)
            if isinstance(found, TransientError):  # returned, not raised: it may pass
                tries += 1
                await self.client.backoff(found, tries)
            else:
                site, self.api = found
                self._site = read_siteinfo(site, self.api)
        return self._site

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    def url(self, query: Query) -> URL:
        """The address of this query, once the wiki is open."""
        assert self.api is not None
        return self.api.with_query({**QUERY, **query})

    async def ask(self, query: Query, read: ReadAnswer = read_answer) -> QueryAnswer:
        """A valid answer to ``query``, as ``read`` reads it."""
        return await self.client.fetch(self.url(query), read)

    async def gather(
        self,
        query: Query,
        answer: QueryAnswer,
        read: ReadAnswer = read_answer,
    ) -> tuple[Gathering, QueryAnswer]:
        """The pages of ``answer`` to ``query`` and of all its continuations, and the last answer.

        The last answer is incomplete if the wiki makes no progress because one text is larger than
        a whole reply may be. Raises `TransientError` if the texts are too large in total.
        """
        gathering = Gathering()
        gathering.add(answer.pages)
        followed: list[Query] = []
        while answer.continuation is not None and not answer.complete:
            if len(followed) > _MOST_REPLIES:
                break
            followed.append(answer.continuation)
            answer = await self.ask({**query, **answer.continuation}, read)
            has_news = gathering.add(answer.pages)
            if not has_news and answer.continuation in followed:
                break  # the wiki goes round in circles
        return gathering, answer

    async def fill_in(self, gathering: Gathering, continuation: Query | None) -> None:
        """Fetch the texts of the listed pages by id, giving up the one at which the wiki is stuck,
        and any others that never arrive. Raises `TransientError` like `gather`."""
        while missing := gathering.without_text():
            # The wiki is stuck at the page with which it would continue, or, if it names none, at
            # the first one.
            place = continuation.get("rvcontinue", "") if continuation else ""
            stuck_at, _, _ = place.partition("|")  # "page|revision"
            given_up = missing[0]
            for page_id in missing:
                if str(page_id) == stuck_at:
                    given_up = page_id
            gathering.leave_out([given_up], "no text")
            # Ask for the others until all are there, or the wiki is stuck again.
            while ids := gathering.without_text():
                page_ids = "|".join(map(str, ids[:MOST_PAGES]))
                answer = await self.ask({"pageids": page_ids, **TEXTS})
                if not gathering.add(answer.pages):
                    continuation = answer.continuation
                    break

    async def by_title(self, titles: Sequence[str]) -> Gathering:
        """The pages with these titles, at most 50; missing ones and redirects are not articles.

        Raises `TransientError` like `gather`.
        """
        query = {**TEXTS, "titles": "|".join(titles), "prop": TEXTS["prop"] + "|info"}
        gathering, answer = await self.gather(query, await self.ask(query))
        if not answer.complete:
            await self.fill_in(gathering, answer.continuation)
        return gathering
