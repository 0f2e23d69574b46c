"""The polite HTTP client: one turn at a time, patient with temporary errors, and open about its waits."""

import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

import aiohttp
from yarl import URL

from wikitopics.crawler.errors import WikiUnreachable
from wikitopics.crawler.http.clock import Clock
from wikitopics.crawler.http.contact import check_contact, sendable, user_agent
from wikitopics.crawler.http.limits import Manners
from wikitopics.crawler.http.pace import OwnPace, Pace, SharedPace, Turn
from wikitopics.crawler.http.quoting import Quoting
from wikitopics.crawler.http.replies import judge_status
from wikitopics.crawler.http.retry import THROTTLED_FIRST, parse_retry_after, wait_before_retry
from wikitopics.crawler.http.wire import (
    Elsewhere,
    Reply,
    Trouble,
    Wanted,
    WireLimits,
    get,
    not_followed,
    redirected,
    sent_once,
    split_lines,
    stream,
)
from wikitopics.crawler.source import Activity

T = TypeVar("T")

START_SECONDS = 30.0
"""Seconds without a valid reply at the start of a run after which the wiki counts as unreachable."""
PATIENCE_SECONDS = 24 * 3600.0
"""Seconds without a valid reply that end the run once the wiki has answered."""
_MOST_HOPS = 5
_LONGEST_LINE = 16 << 20
"""For a stream: above the 4 MiB of Wikimedia's longest messages, since a refused message would block it
for ever."""
_UNKNOWN_PLACE = (400, 404)


class Client:
    """Talks to one wiki as ``manners`` allow, and records its actions in ``activity``.

    ``manners_of``: the limits on a request by its address, if some differ. On Wikimedia a budget is shared
    with all clients of the same ``budget_folder``. Raises `ContactMissing` if ``manners`` are Wikimedia's and
    there is no usable contact. The contact goes into the User-Agent and nowhere else.
    """

    def __init__(
        self,
        manners: Manners,
        activity: Activity,
        *,
        version: str,
        contact: str | None = None,
        manners_of: Callable[[URL], Manners] | None = None,
        clock: Clock | None = None,
        budget_folder: Path | None = None,
        limits: WireLimits | None = None,
        elsewhere: Elsewhere = not_followed,
    ) -> None:
        if manners.wikimedia:
            contact = check_contact(contact or "")
        elif contact:
            contact = sendable(contact)  # other wikis may be given any contact that a header can carry
        self._manners_of = manners_of or (lambda _: manners)
        self._budget_folder = budget_folder
        self.activity = activity
        self.clock = clock or Clock()
        self.quote = Quoting(contact)
        """Quotes whatever a server says in a message."""
        self._user_agent = user_agent(version, contact)
        self._limits = limits or WireLimits()
        self._elsewhere = elsewhere
        self._paces: dict[Manners, Pace] = {}
        self._rng = random.Random()  # used only to vary waits
        self._session: aiohttp.ClientSession | None = None
        self._starts: deque[float] = deque()
        self._under_way = 0
        self._first_request: float | None = None
        self._last_answer: float | None = None
        self._answered_under: set[Manners] = set()
        self.opening = False
        """Whether the source is still being opened, when nobody should have to wait for minutes."""
        activity.allowed_per_minute = manners.rpm

    # -- what the sources call -------------------------------------------------

    async def fetch(
        self,
        url: URL | Callable[[], URL],
        read: Callable[[Reply], T],
        on_trouble: Callable[[Trouble], None] | None = None,
        wanted: Wanted | None = None,
    ) -> T:
        """GET until ``read`` accepts the reply.

        ``read`` raises `Trouble` for temporary errors and a `CrawlerError` for permanent ones. ``on_trouble``
        is called for temporary errors, and ``url``, if it is a function, is called again for every try.
        """
        tries = 0
        while True:
            try:
                value = await self.once(url() if callable(url) else url, read, wanted)
            except Trouble as trouble:
                tries += 1
                if on_trouble is not None:
                    on_trouble(trouble)
                await self.endure(trouble, tries)
            else:
                return value

    async def once(self, url: URL, read: Callable[[Reply], T], wanted: Wanted | None = None) -> T:
        """GET once, in its turn; each redirect takes a turn of its own.

        Raises `Trouble` too.
        """
        for _hop in range(_MOST_HOPS):
            manners = self._manners_of(url)
            try:
                async with self._turn(manners) as turn:
                    reply = await self._get(url, turn, manners, wanted or Wanted())
                    target = redirected(reply, self._elsewhere)
                    if target is None:
                        value = self._read(reply, turn, manners, read)
                        self._answered(manners)
                        return value
            except Trouble as trouble:
                if trouble.answered:
                    self._answered(manners)
                raise
            url = target
        raise Trouble(f"{url.host} redirects in a loop")

    @asynccontextmanager
    async def _turn(self, manners: Manners) -> AsyncGenerator[Turn]:
        """One request's turn under these limits."""
        if manners not in self._paces:
            folder = self._budget_folder if manners.wikimedia else None
            self._paces[manners] = (
                OwnPace(manners, self.clock) if folder is None else SharedPace(manners, self.clock, folder)
            )

        async def wait_until(moment: float, reason: str) -> None:
            self._check_start(manners, moment - self.clock.monotonic(), f"waiting for {reason}")
            await self.wait_until(moment, reason)

        async with self._paces[manners].turn(wait_until) as turn:
            yield turn

    def _read(self, reply: Reply, turn: Turn, manners: Manners, read: Callable[[Reply], T]) -> T:
        try:
            judge_status(reply)
            return read(reply)
        except Trouble as trouble:
            trouble.retry_after = self._retry_after(reply)
            if reply.status >= 500 and manners.error_pause:
                trouble.retry_after = max(trouble.retry_after or 0.0, manners.error_pause)
            turn.told_to_wait = trouble.retry_after or (THROTTLED_FIRST if trouble.throttled else 0.0)
            self._check_start(manners, turn.told_to_wait, trouble.text)
            raise

    async def _get(self, url: URL, turn: Turn, manners: Manners, wanted: Wanted) -> Reply:
        began = self._begin(manners)
        self._under_way += 1
        try:
            reply = await get(
                self._open_session(),
                url,
                self._limits,
                total_seconds=self._time_left(),
                wanted=wanted,
                count_bytes=self._count_bytes,
                quote=self.quote,
            )
        finally:
            turn.latency = self.clock.monotonic() - began
            self._under_way -= 1
            if not self._under_way:
                self.activity.waiting_for = None
        self.activity.latency_seconds = turn.latency
        return reply

    async def lines(
        self, url: URL, headers: Mapping[str, str], stall_seconds: float, manners: Manners
    ) -> AsyncGenerator[bytes]:
        """The lines of an endless reply, until the server ends it.

        Only its beginning takes a turn. Raises `Trouble`, also for ``stall_seconds`` without a byte, and
        `UnknownPlace`.
        """
        async with AsyncExitStack() as stack:
            async with self._turn(manners) as turn:
                began = self._begin(manners)
                parts = await stack.enter_async_context(
                    stream(
                        self._open_session(),
                        url,
                        self._limits,
                        headers=headers,
                        stall_seconds=stall_seconds,
                        count_bytes=self._count_bytes,
                        quote=self.quote,
                    )
                )
                turn.latency = self.clock.monotonic() - began
                if isinstance(parts, Reply):
                    self._read(parts, turn, manners, _no_stream)
            self._answered(manners)
            self.activity.waiting_for = None
            async for line in split_lines(parts, _LONGEST_LINE):
                yield line

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def wait_until(self, moment: float, reason: str) -> None:
        """Sleep until ``moment`` (monotonic), recording why and until when in the activity."""
        if moment <= self.clock.monotonic():
            return
        while (left := moment - self.clock.monotonic()) > 0:
            # Recorded again each second: if pages are fetched in parallel, another request may have ended its
            # own wait.
            self.activity.waiting_for = reason
            self.activity.waiting_until = self.clock.wall() + left
            self._recount()
            await self.clock.sleep(min(left, 1.0))
        self.activity.waiting_for = None
        self.activity.waiting_until = None

    def note(self, text: str) -> None:
        """Add one line to the activity's list of errors."""
        self.activity.note(self.clock.wall(), text)

    # -- one request -------------------------------------------------------------

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"User-Agent": self._user_agent, "Accept-Encoding": "gzip"},
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                middlewares=(sent_once,),
            )
        return self._session

    def _begin(self, manners: Manners) -> float:
        now = self.clock.monotonic()
        if self._first_request is None:
            self._first_request = now
            self.activity.trying_until = self.clock.wall() + START_SECONDS
        self._starts.append(now)
        self.activity.requests += 1
        self._recount()
        self.activity.waiting_for = f"{manners.server}'s reply"
        self.activity.waiting_until = None
        return now

    def _recount(self) -> None:
        now = self.clock.monotonic()
        while self._starts and self._starts[0] <= now - 60.0:
            self._starts.popleft()
        self.activity.requests_last_minute = len(self._starts)

    def _count_bytes(self, number: int) -> None:
        self.activity.bytes_read += number

    def _answered(self, manners: Manners) -> None:
        self._answered_under.add(manners)
        self._last_answer = self.clock.monotonic()
        self.activity.trying_until = None

    def _retry_after(self, reply: Reply) -> float | None:
        return parse_retry_after(
            reply.headers.get("Retry-After"), reply.headers.get("Date"), self.clock.wall()
        )

    # -- what goes wrong -----------------------------------------------------------

    def _time_left(self) -> float | None:
        """Seconds left of the 30 at the start; None once the wiki has answered."""
        if self._last_answer is not None or self._first_request is None:
            return None
        return max(0.1, self._first_request + START_SECONDS - self.clock.monotonic())

    def _check_start(self, manners: Manners, seconds: float, text: str) -> None:
        """Raise `WikiUnreachable` for a long pause at the start.

        That is a pause before the server has ever answered, or while the source is being opened. It concerns
        only servers that want long ones: a wiki's 429 is waited out.
        """
        starting = self.opening or manners not in self._answered_under
        if starting and manners.error_pause and seconds > START_SECONDS:
            raise self._too_long(text, seconds)

    def _too_long(self, text: str, seconds: float) -> WikiUnreachable:
        until = time.strftime("%H:%M:%S", time.localtime(self.clock.wall() + seconds))
        left = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        return WikiUnreachable(f"{text}; try again after {until}, in {left}")

    async def endure(self, trouble: Trouble, tries: int) -> None:
        """Wait as long as the ``tries``-th trouble in a row requires.

        Raises `WikiUnreachable` when the time limit is reached.
        """
        self.activity.retries += 1
        if trouble.throttled:
            self.activity.throttled += 1
        self.note(trouble.text)
        wait = wait_before_retry(tries, trouble.throttled, trouble.retry_after, self._rng)
        now = self.clock.monotonic()
        if self._last_answer is None:
            if trouble.lasting:
                raise WikiUnreachable(trouble.text)
            began = now if self._first_request is None else self._first_request
            left = began + START_SECONDS - now
            told = trouble.throttled or trouble.retry_after is not None
            if told and wait >= left:
                raise self._too_long(trouble.text, wait)
            if left <= 0.5:
                raise WikiUnreachable(f"no valid reply within {START_SECONDS:.0f} s: {trouble.text}")
            wait = min(wait, left - 0.25)
        elif now - self._last_answer > PATIENCE_SECONDS:
            raise WikiUnreachable(f"no valid reply for a day: {trouble.text}")
        await self.wait_until(now + wait, trouble.text)


class UnknownPlace(Trouble):
    """The stream cannot continue from the given place."""


def _no_stream(reply: Reply) -> NoReturn:
    if reply.status in _UNKNOWN_PLACE:
        raise UnknownPlace(f"{reply.url.host} no longer knows this place in its stream ({reply.status})")
    raise Trouble(f"{reply.url.host} answers {reply.status} instead of its stream of changes")
