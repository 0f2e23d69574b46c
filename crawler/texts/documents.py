"""The user's own documents: JSON lines, tables and plain texts, one file after another."""

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import BinaryIO

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import START, PageAndPlace, PageFiles, Place, Say, silently
from wikitopics.crawler.markup.undeclared import noticing
from wikitopics.crawler.page import Markup, Page
from wikitopics.crawler.texts import records
from wikitopics.crawler.texts.contents import Contents, Stopped, open_regular
from wikitopics.crawler.texts.files import (
    GIVEN,
    JSON_LINES,
    PLAIN,
    TABLES,
    TextFile,
    check_paths,
    check_same,
    ending,
    fingerprint,
    printable,
    text_files,
)
from wikitopics.crawler.texts.rows import table_rows
from wikitopics.crawler.texts.seen_ids import SeenIds, is_in
from wikitopics.crawler.texts.tables import Table

MOST_NAMED = 10
"""The number of bad records that are named; further ones are only counted."""
_TITLE = 60
"""The most characters of a title taken from the beginning of the text."""
_END_OF_DOCUMENT: Place = {"offset": 1, "line": 1}
"""The place after a file that is a single document; any offset but 0 says so."""


class TextFiles(PageFiles):
    """The documents of ``paths``, numbered in order from 1, or from the number after ``before``: a
    document's number is its page id.

    Records that cannot be read as documents have numbers too.

    column: the column of a table, or the key of JSON lines, that has the text
    markup: what the texts are written in; those of plain text that seem to contain markup are
        reported. None: only the caller knows it; nothing is reported, and pages count as plain text
    lines: what is a document of plain text. True: every line. False: in a folder, every file;
        otherwise, whatever is between blank lines. None: every file, as up to 1.1.0; then also
        ``column`` is not looked for in JSON lines, and a text passed from Python is skipped if it
        is empty or repeats an id
    title, id: the column or key that has a document's title, and the one that has its id
    header: whether the first row of a table names its columns, which are called 1, 2, 3 …
        otherwise
    by_id: whether documents have ids
    once: whether a document that repeats an id is skipped
    beside_tables: whether tables are read beside ``paths``, for which ``column`` holds as well

    Raises BadSource for paths from which no documents can be read, and later for files that change.
    """

    def __init__(
        self,
        paths: Sequence[str],
        column: str | None = None,
        say: Say = silently,
        markup: Markup | None = "text",
        lines: bool | None = False,
        *,
        title: str | None = None,
        id: str | None = None,
        before: int = 0,
        header: bool = True,
        by_id: bool = True,
        once: bool = True,
        beside_tables: bool = False,
    ) -> None:
        check_paths(paths)
        names = [printable(os.path.basename(os.path.normpath(path))) for path in paths]
        super().__init__(names, say)
        self._paths = tuple(paths)
        self._column = column
        self._markup: Markup | None = markup
        self._lines = lines
        self._before = before
        text_key = "text"
        if column is not None and lines is not None:
            text_key = column
        # With tables, the named column may be theirs alone: a JSON line without it has its text
        # under "text".
        has_tables = beside_tables or any(ending(path) in TABLES for path in paths)
        other_text_key = "text" if has_tables else None
        self._names = records.Names(text_key, other_text_key, title, id, reads_ids=by_id)
        self._header = header
        self._once = once
        self._content: int | None = None
        """Hash of all bytes, below 2**63, once all files have been read."""
        self._repeats = array("q")
        """The numbers of the documents that repeat an id."""

    @cached_property
    def files(self) -> tuple[TextFile, ...]:
        """All files, as first listed."""
        return text_files(self._paths, self.say)

    @property
    def count(self) -> int:
        return len(self.files)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def check(self) -> None:
        """List the files. Raises BadSource for a folder without texts; other errors come later."""
        _ = self.files

    def mark(self, before: Place = START) -> dict[str, int]:
        """See `PageFiles`: makes a mark, or checks the files against the mark ``before``. The
        message for changed files names one of them.

        Files that differ only in their times, such as copies, are read completely and compared.
        """
        newest = max(self.files, key=lambda file: file.modified)
        now = {
            "files": self.count,
            "size": self.size,
            "newest": newest.modified,
            "listing": fingerprint(self.files),
        }
        if before and (now["files"] != before.get("files") or now["size"] != before.get("size")):
            raise self._changed(before, newest)
        looks_the_same = all(before.get(key) == value for key, value in now.items())
        # Only a reading of all documents tells which ones repeat an id.
        may_stay_unread = looks_the_same and not before.get("repeated")
        if self._content is None and not may_stay_unread:
            for _ in self.first_reading():
                pass  # at its end, it has set `_content` and `_repeats`
            if self._content is None:
                raise BadSource(f"{self.name} was not read to its end")
        if not before:
            return now | {"content": self._content or 0, "repeated": len(self._repeats)}
        if self._content is not None and self._content != before.get("content"):
            raise self._changed(before, newest)
        return now

    def _changed(self, before: Place, newest: TextFile) -> BadSource:
        """The error for files that are not those of the mark ``before``."""
        if self.count != before.get("files"):
            what = f"{self.name}: {self.count:,} files, no longer {before.get('files', 0):,}:"
        elif self.count == 1 or newest.modified > before.get("newest", 0):
            what = f"{printable(newest.path)} has"
        else:
            what = f"{self.name}: one of the files has"
        return BadSource(
            f"{what} changed since this session began: restore it, or start another --session"
        )

    def first_reading(self, say: Say = silently) -> Iterator[PageAndPlace]:
        """All documents from the start. Raises BadSource if there are none."""
        repeats = array("q")
        digest = blake2b(digest_size=8)
        messages: list[str] = []

        def tell_bad(message: str) -> None:
            messages.append(message)
            say(message)

        number = 0
        has_documents = False
        reading = self._read(START, tell_bad, repeats, SeenIds(), digest.update)
        if self._markup == "text":
            reading = noticing(reading, _text_of, self.say)
        for page, place in reading:
            number += 1
            has_documents = has_documents or isinstance(page, Page)
            yield page, place
        if self.closed:
            return
        self._check_names(has_documents, messages)
        most_repeat_an_id = len(repeats) > number / 2
        if most_repeat_an_id:
            self.say(
                f"{self.name}: {len(repeats):,} of {number:,} documents repeat an id and are "
                "skipped; name another column or key with --id-column"
            )
        self._content = int.from_bytes(digest.digest(), "big") >> 1
        self._repeats = repeats

    def _check_names(self, has_documents: bool, messages: Sequence[str]) -> None:
        """Raise BadSource if a reading of all files found no documents, or not the columns and keys
        that were named.

        ``messages``: what was told of records that are no documents.
        """
        named = None if self._lines is None else self._column
        other_names = self._names.others
        # None: there were no JSON lines.
        no_line_has_the_key = self._names.has_text is False
        # A key that was named must exist even if other files have documents.
        is_needed = named or not has_documents
        if no_line_has_the_key and other_names and is_needed:
            raise BadSource(f"{self.name}: {records.lacks('key', named, other_names)}")
        if not has_documents:
            first = f" ({messages[0]})" if messages else ""
            raise BadSource(f"there are no documents in {self.name}{first}")
        for flag, name in self._names.missing.items():  # a message of the first is enough
            lack = records.lacks("column or key", name, other_names, flag)
            raise BadSource(f"{self.name}: {lack}")

    def read(self, place: Place = START) -> Iterator[PageAndPlace]:
        """The documents after ``place``, once the first reading is over or `mark` has found no
        change."""
        return self._read(place, self.say, self._repeats)

    def _read(
        self,
        place: Place,
        say: Say,
        repeats: "array[int]",
        new_ids: SeenIds | None = None,
        digest: Callable[[bytes], object] = lambda _: None,
    ) -> Iterator[PageAndPlace]:
        """The documents after ``place``.

        ``repeats``: the numbers of documents that repeat an id. The first reading, which has
        ``new_ids``, finds these documents and adds their numbers.
        """
        skipped = 0
        # Odd rows are told of in the first reading only.
        say_odd = silently if new_ids is None else self.say
        number = place.get("number", 0)
        first_file = place.get("file", 0)
        for index, file in enumerate(self.files[first_file:], first_file):
            if self.closed:
                return
            begin = place if index == first_file else START
            # Each text of a Python program is a document, whatever its id.
            may_skip_repeats = self._once and not self._takes_all(file)
            for (record, line), place_after in self._records(file, begin, digest, say, say_odd):
                number += 1
                if isinstance(record, records.Document) and record.id and may_skip_repeats:
                    if new_ids is not None and not new_ids.add(record.id):
                        repeats.append(number)
                    if is_in(repeats, number):
                        why = f"the id {record.id[:100]!r} is a duplicate"
                        record = records.BadRecord("repeated", why)
                here = {"file": index, **place_after, "number": number}
                if isinstance(record, records.Document):
                    yield self._page(file, line, self._before + number, record), here
                    continue
                skipped += 1
                if skipped <= MOST_NAMED:
                    where = "" if self._is_one(file) else f", line {line:,}"
                    say(f"{printable(file.path)}{where}: {record.why}; skipped")
                elif skipped == MOST_NAMED + 1:
                    say("further skipped documents are counted, but not named here")
                yield record.skip, here

    def _records(
        self,
        file: TextFile,
        begin: Place,
        digest: Callable[[bytes], object],
        say: Say,
        say_odd: Say,
    ) -> Iterator[tuple[records.Record, Place]]:
        """Each record with the place after it: how many unpacked bytes and lines of the file."""
        is_one = self._is_one(file)
        name = printable(file.path)
        offset = begin.get("offset", 0)
        if is_one and offset:
            return

        def seen(data: bytes) -> None:
            self.bytes_read += len(data)
            digest(data)

        try:
            with _opened(file) as opened:
                contents = Contents(
                    opened,
                    name,
                    offset=offset,
                    number=begin.get("line", 0),
                    seen=seen,
                    stopped=lambda: self.closed,
                    say=say,
                )
                if is_one:
                    yield (records.whole_file(contents), 1), _END_OF_DOCUMENT
                else:
                    for record, line in self._parts(file, contents, say_odd):
                        if isinstance(record, records.Document):
                            contents.without_document = 0  # counts since the last document
                        after = {"offset": contents.offset, "line": contents.number}
                        yield (record, line), after
                while data := opened.read(1 << 20):  # bytes not parsed belong to the file too
                    seen(data)
        except Stopped:
            return
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
            if not is_one:
                raise BadSource(f"{name}: {why}") from None
            yield (records.BadRecord("damaged", why), 1), _END_OF_DOCUMENT

    def _is_one(self, file: TextFile) -> bool:
        """Whether the file is one document."""
        return file.ending == PLAIN and (
            self._lines is None or (file.in_folder and not self._lines)
        )

    def _takes_all(self, file: TextFile) -> bool:
        """Whether the file has the texts of a Python program, each of which is a document."""
        return file.path.endswith(GIVEN) and self._lines is not None

    def _parts(
        self,
        file: TextFile,
        contents: Contents,
        say_odd: Say,
    ) -> Iterator[records.Record]:
        """The records of a file with several; ``say_odd`` is told of a table's odd rows."""
        if file.ending == PLAIN:
            return records.plain_texts(contents, bool(self._lines))
        if file.ending == JSON_LINES:
            return records.json_lines(contents, self._names, may_be_empty=self._takes_all(file))
        # Opened a second time, since ``contents`` may already be in the middle of the file.
        with _opened(file) as opened:
            beginning = Contents(opened, contents.name, stopped=contents.stopped)
            table = Table.of(beginning, file.ending, self._column, self._names, self._header)
        return table_rows(contents, table, say_odd)

    def _page(self, file: TextFile, line: int, number: int, document: records.Document) -> Page:
        title = document.title or document.id
        if not title and self._is_one(file):
            title = file.label
        elif not title and file.ending == PLAIN and self._markup == "text":
            title = _beginning(document.text)
        return Page(
            page_id=number,
            title=title or f"{file.label}:{line}",
            revision_id=0,
            text=document.text,
            markup=self._markup or "text",
            id=document.id,
        )


def _text_of(found: PageAndPlace) -> str:
    page, _ = found
    return page.text if isinstance(page, Page) else ""


def _beginning(text: str) -> str:
    """The first words of a text, by which people recognise it."""
    line = " ".join(text[: 8 * _TITLE].split())
    if len(line) <= _TITLE:
        return line
    cut = line[:_TITLE]
    ends_in_word = line[_TITLE] != " "
    if ends_in_word:
        whole_words, _, _ = cut.rpartition(" ")
        # There are none in a longer word, and in a text without blanks between words.
        cut = whole_words or cut
    return cut.rstrip() + "…"


@contextmanager
def _opened(file: TextFile) -> Iterator[BinaryIO]:
    with open_regular(file.path) as opened:
        check_same(file, os.fstat(opened.fileno()))
        yield opened
        check_same(file, os.fstat(opened.fileno()))
