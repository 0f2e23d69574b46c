"""Articles by the Action API: one lap through all of them in random order, without replacement.

`generator=random` lists consecutive pages in the wiki's fixed random order from a random start; its
cursor goes on from there, wraps around and ends where it began. The cursor is the whole position.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

from crawler.addresses import api_candidates
from crawler.client import Client
from crawler.clock import Clock
from crawler.cursor import cursor_of, generator, lap_share, position_of
from crawler.errors import CrawlerError
from crawler.limits import Manners, manners_for
from crawler.pace import Pace
from crawler.page import Activity, PageBatch, Position, SourceInfo
from crawler.pages import Gathering
from crawler.siteinfo import SiteInfo
from crawler.sizing import BatchSizer
from crawler.wiki import MOST_PAGES, TEXTS, Wiki, stuck_page
from crawler.wire import Trouble, WireLimits

_MOST_EMPTY = 100
"""Batches in a row without a page."""


class ApiSource:
    """All articles of the wiki at ``api_url`` (its api.php, or any address from which to find it).

    ``rpm``: requests a minute, None for the host's default, 0 for no cap. ``budget_folder``: where
    this user's trainers share Wikimedia's budget. ``manners`` replaces the rules that the host's
    name would give. Raises :class:`~crawler.errors.BadSource` and
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
        budget_folder: Path | None = None,
        name: str | None = None,
        manners: Manners | None = None,
        clock: Clock | None = None,
        pace: Pace | None = None,
        limits: WireLimits | None = None,
    ) -> None:
        manners = manners or manners_for(api_candidates(api_url)[0].host or "", rpm)
        self._sizer = BatchSizer(manners, min(batch_pages, MOST_PAGES))
        self.activity = Activity(batch_pages=self._sizer.pages)
        self.client = Client(
            manners,
            self.activity,
            version=version,
            contact=contact,
            clock=clock,
            pace=pace,
            budget_folder=budget_folder,
            limits=limits,
        )
        self.wiki = Wiki(self.client, api_url)
        self._name = name
        self.site: SiteInfo | None = None
        """Names of namespaces and the like, once opened."""

    async def open(self) -> SourceInfo:
        """Find the wiki's api.php and ask it who it is."""
        if self.site is None:
            self.site = await self.wiki.find()
        site = self.site
        return SourceInfo(self._name or site.name, site.articles, site.file_names, site.category_names)

    async def close(self) -> None:
        await self.client.close()

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The lap from ``position`` on."""
        cursor, empty = cursor_of(position), 0
        if cursor is not None:
            await self.open()
        while cursor is not None:
            gathering = Gathering()
            cursor = await self._gather(cursor, gathering)
            empty = 0 if len(gathering) else empty + 1
            if empty > _MOST_EMPTY:
                raise CrawlerError("the wiki goes on and on without listing a page")
            pages = gathering.pages()
            yield PageBatch(pages, position_of(cursor), len(gathering) - len(pages), lap_share(cursor))

    async def _gather(self, start: dict[str, str], gathering: Gathering) -> dict[str, str] | None:
        """Fill one batch from the cursor ``start``; the cursor behind it, None at the lap's end."""
        listing = generator(self._sizer.pages)

        def first_query() -> dict[str, str]:
            nonlocal listing  # a wiki too slow for so many pages is asked for fewer at the next try
            self.activity.batch_pages = self._sizer.pages
            listing = generator(self._sizer.pages)
            return {**listing, **TEXTS, **start}

        def on_trouble(trouble: Trouble) -> None:
            if trouble.slow:
                self._sizer.timed_out()

        answer = await self.wiki.ask(first_query, on_trouble)
        gathering.add(answer[0])
        if self.activity.latency_seconds is not None:
            self._sizer.seen(max(1, len(gathering)), self.activity.latency_seconds)
        going_on, complete = await self.wiki.ask_on(gathering, {**listing, **TEXTS}, answer)
        if complete is None:
            # One text never comes: fetch the others by id, then step over the batch.
            await self.wiki.fill_in(gathering, stuck_page(going_on))
            here = {key: value for key, value in going_on.items() if key.startswith("grn")}
            complete = await self.wiki.ask({**listing, **here})
        return complete[1]
