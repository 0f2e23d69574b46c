"""What an HTTP request needs and its reply says; every possible failure is described in a line."""

import asyncio
import errno
import math
import random
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDictProxy
from yarl import URL

from wikitopics.crawler.errors import BadSource, TransientError, WikiRefused
from wikitopics.crawler.http.addresses import is_loopback
from wikitopics.crawler.http.quoting import Quoting
from wikitopics.crawler.source import Activity

_CHUNK = 1 << 16
_CERTIFICATE_ADVICE = {
    9: "is this machine's clock right?",  # not yet valid
    10: "is this machine's clock right?",  # expired
    62: "is this the wiki's right address?",  # issued to another name
    64: "is this the wiki's right address?",  # issued to another IP address
}
"""What to do about a certificate, by OpenSSL's number of the error (X509_V_ERR_…)."""
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply, decompressed."""

    status: int
    url: URL
    headers: CIMultiDictProxy[str] = field(repr=False)
    body: bytes = field(repr=False)
    quote: Quoting = field(default=Quoting(), repr=False)
    """Quotes any part of it that goes into a message."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request needs besides its address."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers."""
    most_bytes: int | None = None
    """The most bytes of the body, if less than the default."""
    check: Callable[[Reply], None] | None = None
    """Receives the reply before its body is read, and may refuse it."""
    most_seconds: float | None = None
    """The most seconds that it may take, if less than the default."""
    is_answer: bool = True
    """Whether a valid reply shows that the wiki is there, so that its server is tried for longer
    from then on."""


@dataclass(frozen=True, slots=True)
class RequestBounds:
    """The bounds of one request."""

    most_bytes: int = 16 << 20
    """The most bytes of a decompressed body: twice the 8 MiB at which MediaWiki cuts its replies,
    since JSON takes more."""
    connect_seconds: float = 15.0
    stall_seconds: float = 30.0
    """The most seconds without a single byte."""
    total_seconds: float = 120.0


def proxy_for(url: URL) -> URL | None:
    """The proxy of ``http_proxy``, ``https_proxy``, ``all_proxy`` and ``no_proxy``, if any.

    Requests to this machine never go through a proxy. (aiohttp's own ``trust_env`` would also send
    passwords from ``~/.netrc``.) Raises `BadSource` for an invalid address, and for a proxy that is
    not an http proxy.
    """
    host = url.host
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or not host or is_loopback(host) or proxy_bypass(host):
        return None
    try:
        if "://" not in named:
            named = f"http://{named}"
        proxy = URL(named)
        if not proxy.host:  # which also raises if it is not valid IDNA
            raise ValueError
    except ValueError:
        raise BadSource("the proxy named in the environment is not an address") from None
    if proxy.scheme not in ("http", "https"):
        raise BadSource(
            f"the environment names a {proxy.scheme} proxy: only http proxies can be used"
        )
    return proxy


async def sent_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Session middleware that keeps aiohttp from repeating a cut request outside the request
    budget."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise  # no request was sent yet
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise transient_error(error, request.url.host or "?") from None


JudgeRedirect = Callable[[Reply, URL], None]
"""Raises the error for a redirect to another host, or returns if the redirect is to be followed."""


def not_followed(reply: Reply, target: URL) -> None:
    """Follow no redirect to another host. Raises `TransientError`."""
    host = reply.quote(target.host or "", 100)
    advice = "not followed; if the wiki is there, give that address with --api-url"
    raise TransientError(
        f"{reply.url.host} redirects to another host, {host}: {advice}", lasting=True
    )


def redirected(reply: Reply, judge_other_host: JudgeRedirect) -> URL | None:
    """The target of a redirect; None for any other reply.

    Raises `TransientError` for a redirect that cannot be followed, and the error of
    ``judge_other_host`` for one to another host.
    """
    url = reply.url
    location = reply.headers.get("Location")
    if reply.status not in _REDIRECTS or location is None:
        return None
    try:
        target = url.join(URL(location)).with_fragment(None)
        target.host  # noqa: B018 (raises if it is not valid IDNA)
    except ValueError:
        raise TransientError(f"{url.host} redirects to an invalid address") from None
    if target.scheme not in ("http", "https"):
        raise TransientError(f"{url.host} redirects to something other than http or https")
    if url.scheme == "https" and target.scheme == "http":
        raise TransientError(f"{url.host} redirects away from a secure connection")
    if target.user is not None or target.password is not None:
        raise TransientError(
            f"{url.host} redirects to an address with a user name or password", lasting=True
        )
    # From http to https, the port changes even on the same server.
    is_other_port = target.scheme == url.scheme and target.port != url.port
    if target.host != url.host or is_other_port:
        judge_other_host(reply, target)
    return target


async def decompressed(
    response: aiohttp.ClientResponse, activity: Activity
) -> AsyncGenerator[bytes]:
    """The body in parts of bounded size, however large a compressed body becomes.

    Other tasks run after each part, since a small compressed body can take long to read. Raises
    ``zlib.error`` for a body that contradicts its Content-Encoding, or is cut short.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        async for raw in response.content.iter_chunked(_CHUNK):
            activity.bytes_read += len(raw)
            yield raw
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise zlib.error(f"unknown encoding {encoding[:20]}")
    unpack = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, as the header says
    async for raw in response.content.iter_chunked(_CHUNK):
        activity.bytes_read += len(raw)
        while raw and not unpack.eof:
            yield unpack.decompress(raw, _CHUNK)
            raw = unpack.unconsumed_tail  # what would have made more than a chunk
            await asyncio.sleep(0)
    if not unpack.eof:
        raise zlib.error("cut short")


async def split_lines(parts: AsyncGenerator[bytes], longest: int) -> AsyncGenerator[bytes]:
    """Complete lines without their endings; raises `TransientError` for one of over ``longest``
    bytes."""
    line = bytearray()
    async with aclosing(parts):
        async for part in parts:
            # The first line of a part may have begun in an earlier one; its rest is not yet a line.
            *line_ends, rest = part.split(b"\n")
            for line_end in line_ends:
                yield bytes(line + line_end).removesuffix(b"\r")
                line.clear()  # the next lines of this part are whole
            line += rest
            if len(line) > longest:
                raise TransientError("the stream of changes sends an endless line")


def transient_error(error: Exception, host: str) -> TransientError:
    """What went wrong between here and ``host``, in one line for people."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return TransientError(_describe_certificate(error.certificate_error, host), lasting=True)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return TransientError(f"the proxy named in the environment answers {error.status}")
    for kind, text in _DESCRIPTIONS:
        if isinstance(error, kind):
            return TransientError(text.replace("{host}", host))
    if not isinstance(error, aiohttp.ClientConnectorError):
        return TransientError(f"the connection to {host} was cut")
    if error.errno == errno.ECONNREFUSED:
        return TransientError(f"{host} refuses connections")
    why = error.os_error.strerror
    if not why:
        return TransientError(f"no connection to {host}")
    return TransientError(f"no connection to {host}: {why}")


# The first kind that fits an error describes it.
_DESCRIPTIONS: Sequence[tuple[type[Exception], str]] = (
    (aiohttp.ClientConnectorDNSError, "no address found for {host} (DNS)"),
    (UnicodeError, "no address found for {host} (DNS)"),
    (aiohttp.ClientProxyConnectionError, "the proxy named in the environment cannot be reached"),
    (aiohttp.ClientSSLError, "no secure connection to {host} (TLS): is it https?"),
    (zlib.error, "{host} sends a compressed reply that cannot be read"),
    (aiohttp.ClientResponseError, "{host} sends something that is not HTTP"),
    (aiohttp.InvalidURL, "{host} redirects to an invalid address"),
)


def _describe_certificate(error: Exception, host: str) -> str:
    reason = getattr(error, "verify_message", "not accepted")
    trust = "if you trust it, name its authority's certificate file in SSL_CERT_FILE"
    advice = _CERTIFICATE_ADVICE.get(getattr(error, "verify_code", 0), trust)
    return f"the certificate of {host} is not valid (TLS: {reason.rstrip('.')}): {advice}"


# What a reply's status and headers ask of a client: to wait, to leave, or to retry, and when.

LONGEST_TOLD_WAIT = 3600.0
"""The longest Retry-After observed: after an hour it is fair to ask again."""
SHORTEST_TOLD_WAIT = 1.0
THROTTLED_FIRST = 5.0
"""Seconds of the first wait after a 429 or 503 without a Retry-After; each further one doubles."""
THROTTLED_MOST = 300.0
"""The longest of these waits."""
FAILED_FIRST = 1.0
"""Seconds of the first wait after a broken connection or reply; each further one doubles."""
FAILED_MOST = 60.0
REASON_BYTES = 20_000
"""The most bytes examined of an error page."""


def plain_reason(reply: Reply) -> str:
    """The gist of an error page or text, for people."""
    return reply.quote(reply.body[:REASON_BYTES].decode("utf-8", errors="replace"))


def value_at(value: Any, *keys: str | int) -> Any:
    """The JSON value at this place within another one; None if there is none."""
    for key in keys:
        try:
            value = value[key]
        except (LookupError, TypeError):
            return None
    return value


def judge_status(reply: Reply) -> None:
    """Raise the error for an unsuccessful status. One such as 404 may be an answer: that is left to
    whoever reads the reply."""
    status = reply.status
    host = reply.url.host
    if status < 500 and status not in (401, 403, 408, 429):
        return
    said = plain_reason(reply)
    if status in (401, 403):
        reason = f": {said}" if said else ""
        raise WikiRefused(f"{host} refuses the crawler ({status}){reason}")
    quoted = f" ({said})" if said else ""
    if status in (429, 503):
        text = f"{host} answers {status}{quoted}: told to wait"
        is_working = status == 429  # with a 503, a wiki may also say that it is down
        raise TransientError(text, throttled=True, answered=is_working)
    raise TransientError(f"{host} answers {status}{quoted}")


def parse_retry_after(value: str | None, date: str | None, wall: float) -> float | None:
    """The seconds requested by a Retry-After header; None if it is not usable.

    A date is compared with the reply's own ``Date`` header, so that a wrong clock on either side
    does no harm; if that is missing, with ``wall`` (seconds since the epoch).
    """
    if value is None:
        return None
    text = value.strip()
    try:
        seconds = float(text)
    except ValueError:
        until = _seconds_of_date(text)
        if until is None:
            return None
        now = _seconds_of_date(date.strip()) if date else None
        if now is None:
            now = wall
        seconds = until - now
    if not math.isfinite(seconds) or seconds < 0:
        return None
    return min(max(seconds, SHORTEST_TOLD_WAIT), LONGEST_TOLD_WAIT)


def _seconds_of_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def wait_before_retry(
    tries: int,
    throttled: bool,
    retry_after: float | None,
    rng: random.Random,
) -> float:
    """Seconds to wait after the ``tries``-th failure in a row (counted from 1).

    A wait requested by the wiki is observed, plus up to a tenth, so that several clients do not
    return at the same time. Otherwise the wait doubles from 5 s (throttled, 429 and 503) or 1 s
    (broken connections and replies), with jitter that only lengthens it.
    """
    if retry_after is not None:
        return retry_after * (1 + 0.1 * rng.random())
    first = THROTTLED_FIRST if throttled else FAILED_FIRST
    most = THROTTLED_MOST if throttled else FAILED_MOST
    doublings = min(tries - 1, 30)  # no more, since the number would become too large
    jitter = 1 + 0.25 * rng.random()
    return min(first * 2.0**doublings, most) * jitter
