"""Dump files of a wiki."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.crawler.dumps import BASE, DUMP_FILES, OLD_ORDER, SCHEDULE, VERSIONS
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.addresses import (
    api_candidates,
    by_path,
    dump_address,
    is_address,
    is_wikimedia,
    language_api,
    wiki_address,
)
from wikitopics.crawler.licence import Licence, of_wiki
from wikitopics.crawler.mediawiki.kinds import API_URL, CONTACT, LANG, language_of, name_of_wiki
from wikitopics.crawler.source import Asked, Identity, PageKind, are_names
from wikitopics.installing import install_command
from wikitopics.option import Option

if TYPE_CHECKING:
    from yarl import URL

    from wikitopics.crawler.source import Source

DUMP: Option[tuple[str, ...]] = Option(
    tuple,
    DUMP_FILES,
    "An XML dump: a file ('-': standard input), or an address, from which it is read without being "
    "stored. By default, or with the address of a folder of dumps: the newest dump of Wikipedia in "
    "the language given.",
    metavar="FILE|URL",
    path=True,
    label="File or URL",
)
YES = Option(
    bool,
    "yes",
    "Do not ask before reading a dump from a server: agree to its size and to sending it your "
    "contact.",
    scope="outside",
)
DUMPS = "https://dumps.wikimedia.org/"
_DATABASE = re.compile(
    r"/(?P<code>[a-z_]{2,20}?)"
    r"(?P<project>wiki|wiktionary|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage)"
    r"(?:[/-]|$)"
)
"""The name of one of Wikimedia's wikis in the address of a dump."""
HOME = "home"
"""The key for the address of a folder of dumps."""


class Dump(PageKind):
    """All articles of dump files, identified by their absolute paths or their addresses."""

    name = "dump"
    label = "A Wikipedia dump: the fastest source; a file, or read from its server"
    has_links = True
    options = (DUMP, LANG, CONTACT, YES)

    def identity(self, asked: Asked) -> Identity:
        names = asked.get(DUMP) or (DUMPS,)
        wiki = {API_URL.name: language_api(asked[LANG])}
        wiki_if_named = wiki if LANG in asked else {}
        if not any(map(is_address, names)):
            files = [name if name == "-" else str(Path(name).absolute()) for name in names]
            return {DUMP_FILES: files, **wiki_if_named}
        if not all(map(is_address, names)):
            raise BadSource(f"{DUMP.flag}: give files or addresses, not both")
        urls = [dump_address(name) for name in names]
        if len({url.origin() for url in urls}) > 1:
            raise BadSource(f"{DUMP.flag}: all files of a dump must be on one server")
        is_folder = len(urls) == 1 and urls[0].path.endswith("/")
        if is_folder:
            return {HOME: str(urls[0]), **wiki}
        return {DUMP_FILES: list(map(str, urls)), **wiki_if_named}

    def language(self, asked: Asked) -> str | None:
        """The language, if it was given; the wiki is then a Wikipedia."""
        return language_of(asked[LANG]) if LANG in asked else None

    def vocabulary_name(self, asked: Asked) -> str:
        """Named after the wiki that was dumped, if the beginning of the first file, or its address,
        tells which."""
        names = asked.get(DUMP)
        if not names:
            return name_of_wiki(language_api(asked[LANG]))
        if not is_address(names[0]):
            return _name_of(stated_base(names[0]))
        path = dump_address(names[0]).path
        database = _DATABASE.search(path)
        if database:
            code = database["code"].replace("_", "-")
            project = "wikipedia" if database["project"] == "wiki" else database["project"]
            return _name_of(f"https://{code}.{project}.org/")
        is_folder = len(names) == 1 and path.endswith("/")
        return name_of_wiki(language_api(asked[LANG])) if is_folder else ""

    def kept_vocabulary(self, identity: Identity, name: str) -> str:
        """Named after the wiki that the dump states; "" if it states none."""
        return _name_of(identity.get(BASE, ""))

    def builds_words(self, asked: Asked) -> bool:
        """False for standard input, which can be read only once: nothing is left of it when the
        words are chosen."""
        return "-" not in (asked.get(DUMP) or ())

    def fault(self, identity: Identity) -> str:
        from wikitopics.crawler.dumps.schedule import Schedule

        for key in (BASE, API_URL.name, HOME):
            if not isinstance(identity.get(key, ""), str):
                return f"{key} is not text"
        is_folder = DUMP_FILES not in identity
        if is_folder and HOME in identity and API_URL.name in identity:
            return _fault_of_addresses(identity)
        files = identity.get(DUMP_FILES)
        if not are_names(files):
            return f"{DUMP_FILES} is not a list of files"
        wrong_address = _fault_of_addresses(identity)
        if wrong_address:
            return wrong_address
        versions = identity.get(VERSIONS, [""] * len(files))
        if not isinstance(versions, list) or len(versions) != len(files):
            return f"{VERSIONS} is not a list of versions"
        # They are sent in headers.
        if not all(isinstance(version, str) and version.isprintable() for version in versions):
            return f"{VERSIONS} is not a list of versions"
        schedule = identity.get(SCHEDULE)
        return "" if schedule is None else Schedule.fault(schedule, len(files))

    def needs_contact(self, identity: Identity) -> bool:
        """Whether it is on Wikimedia's servers, which ask for a contact."""
        return any(is_wikimedia(url.host or "") for url in _addresses(identity))

    def download(self, identity: Identity) -> str:
        if not _addresses(identity):
            return ""
        from wikitopics.crawler.http.ranges import told_download

        return told_download(sum(identity[SCHEDULE]["sizes"]))

    def repeatable(self, identity: Identity) -> bool:
        """Whether the dump is in files, not on standard input."""
        return not _addresses(identity) and "-" not in identity[DUMP_FILES]

    def wiki(self, identity: Identity) -> str:
        """The Wikipedia whose language was given, unless the dump states another wiki. Its base
        address does not say where the api.php is."""
        address = identity.get(API_URL.name, "")
        stated = _name_of(identity.get(BASE, ""))
        if not address or stated not in ("", name_of_wiki(address)):
            return ""
        return str(api_candidates(address)[0])

    def address(self, identity: Identity, title: str, revision_id: int) -> str | None:
        """The address on the wiki that was dumped."""
        try:
            return by_path(wiki_address(identity.get(BASE, "")), title, revision_id)
        except BadSource:
            return None

    def licence(self, identity: Identity) -> Licence | None:
        """The licence of the wiki that was dumped, if the dump names it."""
        try:
            return of_wiki(wiki_address(identity.get(BASE, "")))
        except BadSource:
            return None

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.dumps.containers import LocalFile, can_be_parted
        from wikitopics.crawler.dumps.files import DumpFiles
        from wikitopics.crawler.dumps.shuffled import LocalDump
        from wikitopics.crawler.file_source import FileSource

        if OLD_ORDER in identity:
            raise BadSource(
                "this session reads its dump in the order of wikitopics 1.1, and only that version "
                f"can finish it: {install_command('wikitopics<1.2')}"
            )
        urls = _addresses(identity)
        if urls:
            return _open_remote(urls, identity, asked)
        paths = identity[DUMP_FILES]
        files = DumpFiles(paths)
        if SCHEDULE in identity:
            return LocalDump(identity, asked)
        # A session that began in the order of the files continues in that order.
        is_new = files.is_repeatable and not asked.resuming
        if is_new and all(can_be_parted(LocalFile(path)) for path in paths):
            return LocalDump(identity, asked)
        return FileSource("dump", files, held_out=asked.held_out, resuming=asked.resuming)


def _open_remote(urls: list[URL], identity: Identity, asked: Asked) -> Source:
    """The source of a dump on a server, the only one for which the HTTP client is loaded."""
    from wikitopics.crawler.dumps.newest import database
    from wikitopics.crawler.dumps.remote import RemoteDump

    is_folder = DUMP_FILES not in identity
    wiki = database(identity[API_URL.name]) if is_folder else None
    return RemoteDump(
        urls,
        identity,
        asked,
        wiki=wiki,
        contact=asked.get(CONTACT),
        agreed=bool(asked.get(YES)),
    )


def stated_base(path: str) -> str:
    """The address of the main page that a file on this machine states; "" if it cannot be read so
    far."""
    from wikitopics.crawler.dumps.files import head_facts

    if path == "-":
        return ""
    return str(head_facts(path).identity.get(BASE, ""))


def _name_of(base: str) -> str:
    """The name of the wiki whose main page has this address; "" if that is no address of a wiki."""
    try:
        return name_of_wiki(base)
    except BadSource:
        return ""


def _addresses(identity: Identity) -> list[URL]:
    """The addresses of its files, or of the folder that contains them; none for files on this
    machine."""
    if DUMP_FILES not in identity:
        return [dump_address(identity[HOME])]
    return [dump_address(name) for name in identity[DUMP_FILES] if is_address(name)]


def _fault_of_addresses(identity: Identity) -> str:
    """What is wrong with the addresses among these texts; "" for nothing."""
    try:
        if API_URL.name in identity:
            wiki_address(identity[API_URL.name])
        addresses = _addresses(identity)
    except BadSource as error:
        return str(error)
    files = identity.get(DUMP_FILES, addresses)
    if addresses and len(addresses) < len(files):
        return "files and addresses are mixed"
    return ""
