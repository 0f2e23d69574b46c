"""`doctor`: what is installed, where things are kept, and what would go wrong."""

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from wikitopics.cli.options import Command, json_option, reading
from wikitopics.cli.output import put_json, put_line
from wikitopics.crawler.errors import CrawlerError
from wikitopics.extra import EXTRAS
from wikitopics.model import KindError, kinds
from wikitopics.session import __version__, sources
from wikitopics.session.errors import SessionError
from wikitopics.session.file_systems import lack_of
from wikitopics.session.paths import config_file, session_folder

_NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "fuse.sshfs",
    "afpfs",
    "webdav",
}
LOW_DISK = 500e6
"""Free bytes on the disk below which something is wrong."""

Check = tuple[str, bool | None, str]
"""(what was checked, whether it is all right, details); None: it is missing, and is optional."""
_MARKS = {True: "ok", False: "BAD", None: "--"}


@click.command(cls=Command)
@click.option("--offline", is_flag=True, help="Skip the network check.")
@click.option("--session", metavar="NAME", help="Check this session's file too.")
@json_option
def doctor(offline: bool, session: str | None, as_json: bool) -> int:
    """Check the installation, the network, the contact and the disk. Exit code 1 if something is
    wrong.

    Examples:
      wikitopics doctor
      wikitopics doctor --offline
    """
    checks = [*_installation(), *_places(), _tried("contact", _contact)]
    if session is not None:
        checks.append(_tried("session", _session, session))
    if not offline:
        checks.append(_tried("network", _network))
    if as_json:
        put_json(
            [
                {"check": what, "ok": is_fine is not False, "detail": details}
                for what, is_fine, details in checks
            ]
        )
    else:
        width = max(len(what) for what, _, _ in checks)
        for what, is_fine, details in checks:
            put_line(f"{_MARKS[is_fine]:4} {what:{width}} {details}")
    something_is_wrong = any(is_fine is False for _, is_fine, _ in checks)
    return 1 if something_is_wrong else 0


def _tried(what: str, describe: Callable[..., str], *arguments: object) -> Check:
    """The check that ``describe`` makes: it returns the details, or raises one of our errors."""
    try:
        return what, True, describe(*arguments)
    except (SessionError, CrawlerError, KindError) as error:
        return what, False, str(error)
    except importlib.metadata.PackageNotFoundError:
        return what, False, "not installed: reinstall wikitopics"


def _installation() -> Iterator[Check]:
    yield "python", sys.version_info >= (3, 11), f"{platform.python_version()} at {sys.executable}"
    needs = ["wikitopics"]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        needs = importlib.metadata.requires("wikitopics") or []
    for need in needs:
        if "extra ==" not in need:  # packages of extras need not be installed
            package = re.split(r"[^\w.-]", need, maxsplit=1)[0]
            yield _tried(package, importlib.metadata.version, package)
    from wikitopics.compiled import cache_folder

    folder = cache_folder()
    if folder is None:
        yield "kernel cache", False, "no writable folder: the models are recompiled at every start"
    else:
        yield "kernel cache", True, folder
    for extra in EXTRAS:
        missing = ", ".join(extra.missing())
        if missing:
            adds = f"`{extra.command}` adds {extra.purpose}"
            yield f"extra {extra.name}", None, f"not installed ({missing}): {adds}"
        else:
            versions = ", ".join(f"{name} {version}" for name, version in extra.versions().items())
            yield f"extra {extra.name}", True, f"{versions}, for {extra.purpose}"
    for name in sorted(set(kinds.names()) - set(kinds.built_in)):
        yield _tried(f"model {name}", _label, kinds.load, name)
    for name in sorted(set(sources.names()) - set(sources.BUILT_IN)):
        yield _tried(f"source {name}", _label, sources.load, name)


def _label(load: Callable[[str], object], name: str) -> str:
    """What a model or source from another package calls itself."""
    return str(getattr(load(name), "label", "installed"))


def _places() -> Iterator[Check]:
    folder = session_folder()
    config = config_file()
    fault = _unwritable(folder)
    yield "sessions", not fault, fault or str(folder)
    if not fault:
        yield from _disk(_nearest(folder))
    folders = {folder, folder / "vocabularies", config.parent, Path.cwd()}
    yield "leftovers", True, _leftovers(folders)
    if os.path.exists(config):
        yield "config file", True, str(config)
    else:
        fault = _unwritable(config.parent)
        yield "config file", not fault, fault or f"{config} (none yet)"


def _leftovers(folders: set[Path]) -> str:
    """What killed commands left behind and no later command deletes by itself."""
    from wikitopics.session import in_memory_texts
    from wikitopics.session.storage import files

    kinds_of_leftovers = [
        (
            "unfinished files left by killed commands, which you can delete",
            files.left_behind,
        ),
        (
            "texts passed from Python, left by killed trainers, which you can delete",
            in_memory_texts.left_behind,
        ),
        (
            "folders set aside by a killed `export`, which the next `export` to the same folder "
            "puts back",
            files.set_aside,
        ),
    ]
    leftovers = []
    for what, left_in in kinds_of_leftovers:
        paths = sorted(str(path) for folder in folders for path in left_in(folder))
        if paths:
            leftovers.append(f"{what}: {', '.join(paths)}")
    return "; ".join(leftovers) or "none"


def _nearest(folder: Path) -> Path:
    """The folder, or the lowest one above it that exists."""
    while not os.path.lexists(folder):
        folder = folder.parent
    return folder


def _unwritable(folder: Path) -> str:
    """Why nothing can be written in a folder that may not exist yet; "" if something can.

    This is tried, since permissions alone do not tell: root has all of them, even on a read-only
    file system.
    """
    existing = _nearest(folder)
    try:
        with tempfile.TemporaryFile(dir=existing):
            return ""
    except OSError as error:
        fault = "is not writable" if existing == folder else "cannot be created"
        return f"{folder} {fault} ({error.strerror}): set WIKITOPICS_HOME to another folder"


def _disk(folder: Path) -> Iterator[Check]:
    free = shutil.disk_usage(folder).free
    yield "disk", free > LOW_DISK, f"{free / 1e9:,.1f} GB free"
    kind = _file_system_of(folder.resolve())
    try:
        lack = lack_of(folder)
    except OSError as error:
        lack = f"be written to ({error.strerror})"
    fault = ""
    if kind in _NETWORK_FILE_SYSTEMS:
        fault = ": on a network, where SQLite's write-ahead log does not work"
    elif lack:
        fault = f": it cannot {lack}, which a session needs"
    advice = "; set WIKITOPICS_HOME to a local folder" if fault else ""
    yield "file system", not fault, f"{kind or 'unknown'}{fault}{advice}"


def _file_system_of(folder: Path) -> str | None:
    """The kind of file system that a folder is on, such as "ext4"; None if that is unknown."""
    mounts = ""
    with contextlib.suppress(OSError):  # only Linux has this file
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    kinds_at = {}
    for mount in mounts.splitlines():
        _, mounted_at, kind, *_ = mount.split()
        kinds_at[Path(mounted_at.replace("\\040", " "))] = kind  # spaces are written as octal
    for place in (folder, *folder.parents):
        if place in kinds_at:
            return kinds_at[place]
    return None


def _contact() -> str:
    """The contact, as Wikimedia receives it. Nothing is wrong if there is none: the user is asked
    when one is needed."""
    from wikitopics.crawler.http.contact import check_contact, user_agent
    from wikitopics.session import config

    text = config.contact()
    if text is None:
        return (
            "none yet; only Wikipedia and Wikimedia's other servers need one. `wikitopics` asks "
            "for it once and saves it, or give --contact or set $WIKITOPICS_CONTACT"
        )
    agent = user_agent(__version__, check_contact(text))
    return f"sent to Wikimedia's servers in the User-Agent: {agent}"


def _session(name: str) -> str:
    with reading(name) as reader:
        now = reader.status()
        return f"{reader.path}: {now.state}, {now.documents:,} {sources.noun(now.source)}"


def _network() -> str:
    import socket
    import ssl

    host = "en.wikipedia.org"
    try:
        with socket.create_connection((host, 443), 5.0) as connection:
            ssl.create_default_context().wrap_socket(connection, server_hostname=host).close()
    except OSError as error:
        reason = str(error)
        if isinstance(error, TimeoutError):
            reason = "no answer within 5 s"
        elif isinstance(error, socket.gaierror):
            reason = "the name cannot be resolved"
        advice = "if you use a proxy, ignore this: only the crawler goes through it"
        raise SessionError(f"{host}: {reason} ({advice})") from None
    return f"{host} answers"
