"""Where Wikimedia keeps its dumps: the newest complete one of a wiki, in the old layout or the new
one.

New: one folder a month, all namespaces in many files, complete once two further files exist. Old,
deprecated by Wikimedia: one or two folders a month, articles and templates only, complete when
their status says so.
"""

import json
import re
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise

from yarl import URL

from wikitopics.crawler.errors import BadSource, TransientError
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.wire import Reply, value_at

_CURRENT = "other/mediawiki_content_current"
_COMPLETE = frozenset({"SHA256SUMS", "_SUCCESS"})
_LINK = re.compile(r"""href=["']([^"'?#<>]{1,500})["']""")
_NEW_FILE = re.compile(r"[a-z_]{3,40}-[\d-]{10}-p(\d{1,12})p(\d{1,12})\.xml\.bz2")
_OLD_FILE = re.compile(
    r"[a-z_]{3,40}-\d{8}-pages-articles(?:-multistream)?\d*\.xml(?:-p(\d{1,12})p(\d{1,12}))?\.bz2"
)
_NEW_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_OLD_DATE = re.compile(r"\d{8}")
_JOBS = (
    "articlesmultistreamdumprecombine",
    "articlesmultistreamdump",
    "articlesdumprecombine",
    "articlesdump",
)
_MOST_FILES = 5_000
"""The most files: each is checked before the first is read, and the largest dumps have a few
hundred."""
_MOST_TRIED = 6
"""The number of dates tried per layout: older incomplete dumps have been abandoned."""
_DAY = 24 * 3600
"""How far this machine's clock may be behind the server's."""


def database(api: str) -> str:
    """The name in the dumps of the Wikipedia with this api.php, such as "dewiki"."""
    return (URL(api).host or "").partition(".")[0].replace("-", "_") + "wiki"


async def newest_dump(client: Client, home: URL, wiki: str) -> tuple[str, Sequence[URL]]:
    """The date and files of the newest complete dump of ``wiki``; of two with the same date, the
    one in the new layout.

    ``home`` may itself be the folder of one dump. Raises BadSource if there is no dump, or if the
    files of each do not belong together.
    """
    for files in (_new_files, _old_files):
        if urls := await files(client, home):
            return "", urls
    old, new = home / wiki / "", home / _CURRENT / wiki / ""
    latest = time.strftime("%Y%m%d", time.gmtime(client.clock.wall() + _DAY))
    olds, news = (
        await _dates(client, old, _OLD_DATE, latest),
        await _dates(client, new, _NEW_DATE, latest),
    )
    dumps = [(f"{d[:4]}-{d[4:6]}-{d[6:]}", 0, old / d / "", _old_files) for d in olds]
    dumps += [(d, 1, new / d / "xml" / "bzip2" / "", _new_files) for d in news]
    fault = None
    for date, _, folder, files in sorted(dumps, key=lambda dump: dump[:2], reverse=True):
        try:
            urls = await files(client, folder)
        except BadSource as error:  # an older one may be usable
            fault = fault or error
            continue
        if urls:
            return date, urls
    raise fault or BadSource(f"{home}: no complete dump of {wiki} there; give --dump FILE|URL")


async def _dates(client: Client, folder: URL, form: re.Pattern[str], latest: str) -> list[str]:
    """The newest dates that a folder lists. A date in the future is a mistake or a trap."""
    dates = [name for name in await _names(client, folder) if form.fullmatch(name)]
    return sorted((date for date in dates if date.replace("-", "") <= latest), reverse=True)[
        :_MOST_TRIED
    ]


async def _new_files(client: Client, folder: URL) -> tuple[URL, ...]:
    names = await _names(client, folder)
    return _in_order(folder, names, _NEW_FILE) if names >= _COMPLETE else ()


async def _old_files(client: Client, folder: URL) -> tuple[URL, ...]:
    status = await client.fetch(folder / "dumpstatus.json", _json)
    for name in _JOBS:
        job = value_at(status, "jobs", name)
        files = value_at(job, "files") if value_at(job, "status") == "done" else None
        if isinstance(files, dict) and (urls := _in_order(folder, files, _OLD_FILE)):
            return urls
    return ()


def _in_order(folder: URL, names: Iterable[str], form: re.Pattern[str]) -> tuple[URL, ...]:
    matches = [match for match in map(form.fullmatch, names) if match is not None]
    if len(matches) > _MOST_FILES:
        raise BadSource(
            f"{folder}: it lists {len(matches):,} files; give those of one dump with --dump"
        )
    matches.sort(key=lambda match: (int(match[1] or 0), match[0]))
    _check_ranges(folder, [match for match in matches if match[1]])
    return tuple(folder / match[0] for match in matches)


def _check_ranges(folder: URL, files: Sequence[re.Match[str]]) -> None:
    """Raise BadSource if two files hold the same pages, as after a part was made again: they would
    count twice.

    There is no way to tell which file belongs to the dump. A file may end where the next begins,
    since dumps differ in whether the last page is included.
    """
    for one, other in pairwise(files):
        if int(other[1]) < int(one[2]):
            raise BadSource(
                f"{folder}: {one[0]} and {other[0]} hold the same pages; "
                "give the files of one dump, or another folder, with --dump"
            )


async def _names(client: Client, folder: URL) -> frozenset[str]:
    """The names in a folder, as its page lists them; none if there is no such folder."""
    return await client.fetch(folder, _listed)


def _listed(reply: Reply) -> frozenset[str]:
    text = _found(reply).decode("utf-8", "replace")
    folder = reply.url / ""  # a server may redirect to the address without the slash
    return frozenset(filter(None, (_name(folder, link) for link in _LINK.findall(text))))


def _name(folder: URL, link: str) -> str:
    """The name of the entry to which a link in a folder's page leads; "" if it leads elsewhere."""
    try:
        there = folder.join(URL(link))
        is_there = there.origin() == folder.origin()
    except ValueError:
        return ""
    name = there.path.rstrip("/").removeprefix(folder.path)
    return "" if not is_there or "/" in name else name


def _json(reply: Reply) -> object:
    try:
        return json.loads(_found(reply) or b"{}")
    except (ValueError, RecursionError):
        raise TransientError(f"{reply.url.host} sends broken JSON") from None


def _found(reply: Reply) -> bytes:
    if reply.status in (404, 410):
        return b""
    if reply.status != 200:
        raise TransientError(f"{reply.url.host} answers {reply.status}", lasting=True)
    return reply.body
