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
from typing import NamedTuple

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
    host = URL(api).host or ""
    code, _, _ = host.partition(".")
    return code.replace("-", "_") + "wiki"


async def newest_dump(client: Client, home: URL, wiki: str) -> tuple[str, Sequence[URL]]:
    """The date and files of the newest complete dump of ``wiki``; of two with the same date, the
    one in the new layout.

    ``home`` may itself be the folder of one dump. Raises BadSource if there is no dump, or if the
    files of each do not belong together.
    """
    for files_in in (_new_files, _old_files):
        urls = await files_in(client, home)
        if urls:
            return "", urls
    fault = None
    for dump in await _dumps(client, home, wiki):
        files_in = _new_files if dump.is_new else _old_files
        try:
            urls = await files_in(client, dump.folder)
        except BadSource as error:  # an older one may be usable
            fault = fault or error
            continue
        if urls:
            return dump.date, urls
    raise fault or BadSource(f"{home}: no complete dump of {wiki} there; give --dump FILE|URL")


class _Dump(NamedTuple):
    """A dump of one date, complete or not."""

    date: str
    """As in 2026-05-01."""
    is_new: bool
    """Whether it is in the new layout."""
    folder: URL


async def _dumps(client: Client, home: URL, wiki: str) -> list[_Dump]:
    """The dumps of ``wiki`` to be tried, the newest first; of one date, that in the new layout
    first."""
    old = home / wiki / ""
    new = home / _CURRENT / wiki / ""
    latest = time.strftime("%Y%m%d", time.gmtime(client.clock.wall() + _DAY))
    dumps = []
    for date in await _dates(client, old, _OLD_DATE, latest):
        with_dashes = f"{date[:4]}-{date[4:6]}-{date[6:]}"
        dumps.append(_Dump(with_dashes, False, old / date / ""))
    for date in await _dates(client, new, _NEW_DATE, latest):
        dumps.append(_Dump(date, True, new / date / "xml" / "bzip2" / ""))
    return sorted(dumps, key=lambda dump: (dump.date, dump.is_new), reverse=True)


async def _dates(client: Client, folder: URL, form: re.Pattern[str], latest: str) -> list[str]:
    """The newest dates that a folder lists. A date in the future is a mistake or a trap."""
    names = await _names(client, folder)
    dates = [name for name in names if form.fullmatch(name) and name.replace("-", "") <= latest]
    dates.sort(reverse=True)
    return dates[:_MOST_TRIED]


async def _new_files(client: Client, folder: URL) -> tuple[URL, ...]:
    """The files of a complete dump in the newer layout; none otherwise."""
    names = await _names(client, folder)
    return _in_order(folder, names, _NEW_FILE) if names >= _COMPLETE else ()


async def _old_files(client: Client, folder: URL) -> tuple[URL, ...]:
    """The files of a finished dump in the older layout, whose status names them; none otherwise."""
    status = await client.fetch(folder / "dumpstatus.json", _json)
    for name in _JOBS:
        job = value_at(status, "jobs", name)
        files = value_at(job, "files")
        if value_at(job, "status") != "done" or not isinstance(files, dict):
            continue
        urls = _in_order(folder, files, _OLD_FILE)
        if urls:
            return urls
    return ()


def _in_order(folder: URL, names: Iterable[str], form: re.Pattern[str]) -> tuple[URL, ...]:
    """The files with names of this form, in the order of their pages. Raises BadSource."""
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
    for file, following in pairwise(files):
        last_page = int(file[2])
        first_page = int(following[1])
        if first_page < last_page:
            raise BadSource(
                f"{folder}: {file[0]} and {following[0]} hold the same pages; "
                "give the files of one dump, or another folder, with --dump"
            )


async def _names(client: Client, folder: URL) -> frozenset[str]:
    """The names in a folder, as its page lists them; none if there is no such folder."""
    return await client.fetch(folder, _listed)


def _listed(reply: Reply) -> frozenset[str]:
    text = _body(reply).decode("utf-8", "replace")
    folder = reply.url / ""  # a server may redirect to the address without the slash
    names = [_name(folder, link) for link in _LINK.findall(text)]
    return frozenset(name for name in names if name)


def _name(folder: URL, link: str) -> str:
    """The name of the entry to which a link in a folder's page leads; "" if it leads elsewhere."""
    try:
        target = folder.join(URL(link))
        is_same_server = target.origin() == folder.origin()
    except ValueError:
        return ""
    name = target.path.rstrip("/").removeprefix(folder.path)
    return name if is_same_server and "/" not in name else ""


def _json(reply: Reply) -> object:
    try:
        return json.loads(_body(reply) or b"{}")
    except (ValueError, RecursionError):
        raise TransientError(f"{reply.url.host} sends broken JSON") from None


def _body(reply: Reply) -> bytes:
    """The body of a reply; nothing if there is no such file or folder. Raises `TransientError`."""
    if reply.status in (404, 410):
        return b""
    if reply.status != 200:
        raise TransientError(f"{reply.url.host} answers {reply.status}", lasting=True)
    return reply.body
