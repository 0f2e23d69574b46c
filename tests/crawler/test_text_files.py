"""People's own documents: what is read as one, what is named and skipped."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import pickle
import re

import pytest
import zstandard

from tests.crawler.dumps import write
from tests.crawler.text_files import PACKERS, jsonl, read, read_pages, texts_of
from wikitopics.crawler import unpacking
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.page import LONGEST_TITLE, Page
from wikitopics.crawler.texts import contents
from wikitopics.crawler.texts.documents import MOST_NAMED, TextFiles
from wikitopics.crawler.texts.seen_ids import SeenIds

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


# Stand for 32 MB in parameters of tests: `with_32_mb` puts the bytes in their place.
LONG = b"<a long text>"
LINES = b"<long lines>"


def with_32_mb(data):
    """The data with 32 MB in place of each LONG and of each LINES."""
    long_text = b"x" * (32 << 20)
    line_of_1_mb = b"y" * (1 << 20) + b"\n"
    return data.replace(LONG, long_text).replace(LINES, line_of_1_mb * 32)


@pytest.mark.parametrize("packed", PACKERS)
def test_json_lines(tmp_path, packed):
    first = {"text": "first é", "title": "One", "id": "a/1", "url": "http://x"}
    second = {"text": "second", "id": 17}
    third = {"text": "third"}
    line_1 = json.dumps(first).encode() + b"\r\n"
    line_2 = b"\n"
    data = BYTE_ORDER_MARK + line_1 + line_2 + jsonl(second, third)
    path = write(tmp_path / f"notes.jsonl{packed}", PACKERS[packed](data))
    pages, skips, messages = read(path)
    assert [(page.page_id, page.title, page.id, page.text) for page in pages] == [
        (1, "One", "a/1", "first é"),
        (2, "17", "17", "second"),
        (3, f"notes.jsonl{packed}:4", "", "third"),  # the title is its file and line
    ]
    assert {(page.revision_id, page.markup) for page in pages} == {(0, "text")}
    assert skips == {}
    assert messages == []


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize(
    ("ending", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".CSV", "\t")]
)
def test_tables(tmp_path, packed, ending, delimiter):
    quoted = "two\r\nlines, one; field\there"
    long = "word " * 60_000  # csv's own limit for a field is 131,072 characters
    rows = [
        ("ID", " Title", "long\ntext", "n"),  # its names take the lines 1 and 2
        ("x1", 'He said "no"', quoted, "1"),  # 3 and 4
        ("", "", long, "2"),  # 5
    ]
    table = io.StringIO(newline="")
    csv.writer(table, delimiter=delimiter).writerows(rows)
    data = BYTE_ORDER_MARK + table.getvalue().encode()
    name = f"t{ending}{packed}"
    path = write(tmp_path / name, PACKERS[packed](data))
    pages, skips, _ = read(path, column="long\ntext")
    assert [(page.page_id, page.id, page.title) for page in pages] == [
        (1, "x1", 'He said "no"'),
        (2, "", f"{name}:5"),
    ]
    assert texts_of(pages) == [quoted, long]
    assert not skips


def test_the_text_column_is_called_text_unless_named(tmp_path):
    path = write(tmp_path / "t.csv", "id,text\n1,hello\n")
    assert texts_of(read_pages(path)) == ["hello"]
    no_such_column = (
        r"t\.csv: there is no column 'body'\. Name one with --text-column: 'id', 'text'$"
    )
    with pytest.raises(BadSource, match=no_such_column):
        read(path, column="body")
    of_two_line_header = write(tmp_path / "b.csv", '"of the\r\nshop",text\r\n1,hello\r\n')
    assert texts_of(read_pages(of_two_line_header)) == ["hello"]
    other = write(tmp_path / "o.csv", "id;;body\n1;2;hello\n")
    which_column = (
        r"which column holds the text\? Name one with --text-column, "
        r"or give --no-header if it has no header: 'id', '', 'body'$"
    )
    with pytest.raises(BadSource, match=which_column):
        read(other)


def test_a_table_without_text_or_not_in_utf_8_is_refused(tmp_path):
    for empty in (b"", b"\n"):
        with pytest.raises(BadSource, match=r"e\.csv: the file is empty$"):
            read(write(tmp_path / "e.csv", empty))
    with pytest.raises(BadSource, match="--text-column"):
        read(write(tmp_path / "e.csv", b"id"))
    with pytest.raises(BadSource, match="line 1: not UTF-8"):
        read(write(tmp_path / "u.csv", "é,text\n1,hello\n".encode("latin-1")))


def test_the_text_column_is_a_key_of_json_lines_too(tmp_path):
    data = jsonl({"id": 1, "text": "no", "body": "one"}, {"text": "no"})
    path = write(tmp_path / "a.jsonl", data)
    pages, skips, _ = read(path, column="body")
    assert [(page.text, page.id) for page in pages] == [("one", "1")]
    assert skips == {"no text": 1}
    table = write(tmp_path / "t.csv", "body\ntwo\n")
    # Beside a table, which may be what the column was meant for, "text" will do in JSON lines.
    without_the_key = write(tmp_path / "d.jsonl", jsonl({"text": "x"}))
    assert texts_of(read_pages(without_the_key, table, column="body")) == ["x", "two"]
    as_in_1_1_0 = read_pages(path, column="other", lines=None)
    assert texts_of(as_in_1_1_0) == ["no", "no"], "the column was not looked for in JSON lines"


def test_a_key_that_no_json_line_has_is_refused_and_those_there_are_are_named(tmp_path):
    data = jsonl({"id": 1, "text": "no", "body": "one"}, {"text": "no"})
    path = write(tmp_path / "a.jsonl", data)
    for key, message in (
        ("other", r"there is no key 'other'\. Name one with --text-column: 'id', 'text', 'body'"),
        ("Body", "there is no key 'Body'"),
    ):
        with pytest.raises(BadSource, match=rf"^a\.jsonl: {message}"):
            read(path, column=key)
    which_key = r"which key holds the text\? Name one with --text-column: '', 'b'$"
    with pytest.raises(BadSource, match=which_key):
        read(write(tmp_path / "b.jsonl", jsonl({"": 1}, {"b": "x"})))
    of_9000_keys = []
    for first in range(0, 9000, 1000):
        of_9000_keys.append({f"key {number}": 1 for number in range(first, first + 1000)})
    with pytest.raises(BadSource, match="'key 0', 'key 1', ") as caught:
        read(write(tmp_path / "c.jsonl", jsonl(*of_9000_keys)))
    assert len(str(caught.value)) < 300


def test_ids_and_titles_have_columns_and_keys_of_their_own(tmp_path):
    table = write(tmp_path / "t.csv", "ID,text,Ref,head\n1,x,r1,H1\n")
    lines = write(tmp_path / "a.jsonl", jsonl({"text": "y", "id": 2, "Ref": "r2"}, {"text": "z"}))
    pages = read_pages(table, lines, id="Ref", title="head")
    assert [(page.id, page.title) for page in pages] == [
        ("r1", "H1"),
        ("r2", "r2"),
        ("", "a.jsonl:2"),
    ]
    no_such_id = (
        r"no column or key 'ref'\. Did you mean 'Ref'\? Name one with --id-column: 'ID', .*'head'"
    )
    with pytest.raises(BadSource, match=no_such_id):
        read(table, lines, id="ref")
    no_titles = r"no column or key 'x'\. Name one with --title-column: there are none$"
    with pytest.raises(BadSource, match=no_titles):
        read(write(tmp_path / "n.txt", "x"), title="x")


PARAGRAPHS = (
    "\n \n"  # blank lines before the first
    "one\r\ntwo é\n"
    " \t\r\n\n\u00a0\n"  # blank lines, one of a space that does not break
    "three\n"
    "\n\n"
    "four"
)


@pytest.mark.parametrize("packed", PACKERS)
def test_blank_lines_separate_the_documents_of_a_plain_text(tmp_path, packed):
    data = BYTE_ORDER_MARK + PARAGRAPHS.encode()
    path = write(tmp_path / f"notes.txt{packed}", PACKERS[packed](data))
    pages, skips, messages = read(path)
    assert [(page.page_id, page.text, page.title) for page in pages] == [
        (1, "one\r\ntwo é\n", "one two é"),
        (2, "three\n", "three"),
        (3, "four", "four"),
    ]
    assert skips == {}
    assert messages == []
    of_lines = read_pages(path, lines=True)
    assert [page.text.strip() for page in of_lines] == ["one", "two é", "three", "four"]
    (whole,) = read_pages(path, lines=None)
    assert whole.text == PARAGRAPHS, "as in 1.1.0"
    assert whole.title == f"notes.txt{packed}"


def test_a_file_of_a_folder_is_one_document_unless_each_line_is_one(tmp_path):
    write(tmp_path / "docs" / "a.txt", BYTE_ORDER_MARK + PARAGRAPHS.encode())
    folder = str(tmp_path / "docs")
    assert len(read_pages(folder, lines=False)) == 1
    assert len(read_pages(folder, lines=True)) == 4
    assert len(read_pages(folder, lines=None)) == 1


def test_the_title_of_a_part_of_a_plain_text_is_how_it_begins(tmp_path):
    parts = [
        "a sentence of some words that goes on for a very long while indeed\nand on",
        "x" * 61,
        f"{'y' * 60} z",
        f"{' ' * 1000}far",
    ]
    path = write(tmp_path / "a.txt", "\n\n".join(parts))
    assert [page.title for page in read_pages(path)] == [
        "a sentence of some words that goes on for a very long while…",
        f"{'x' * 60}…",
        f"{'y' * 60}…",
        "a.txt:8",
    ]
    assert [page.title for page in read_pages(path, markup="html")] == [
        "a.txt:1",
        "a.txt:4",
        "a.txt:6",
        "a.txt:8",
    ]


def test_bad_parts_of_a_plain_text_are_named_counted_and_skipped(tmp_path):
    parts = [
        b"one",
        b"two \xff",
        b"\x7fELF\0\0",
        with_32_mb(LONG),
        with_32_mb(LINES).strip(),
        b"six",
    ]
    path = write(tmp_path / "a.txt", b"\n\n".join(parts))
    pages, skips, messages = read(path)
    assert [(page.page_id, page.text.strip()) for page in pages] == [(1, "one"), (6, "six")]
    assert skips == {"not UTF-8": 2, "too large": 2}
    assert messages == [
        f"{path}, line 3: not UTF-8: save the file as UTF-8; skipped",
        f"{path}, line 5: a binary file, or not UTF-8 text; skipped",
        f"{path}, line 7: over 32 MB; skipped",
        f"{path}, line 9: over 32 MB; skipped",
    ]


def test_files_count_on_one_behind_the_other(tmp_path):
    first = write(tmp_path / "1.jsonl", jsonl({"text": "a"}, {}, {"text": "b"}))
    second = write(tmp_path / "2.csv", "text\nc\n")
    write(tmp_path / "3" / "d.txt", "d")
    pages = read_pages(first, second, str(tmp_path / "3"))
    assert [(page.page_id, page.text) for page in pages] == [
        (1, "a"),
        (3, "b"),  # the document without a text is number 2
        (4, "c"),
        (5, "d"),
    ]
    assert TextFiles([first, second]).name == "1.jsonl and 1 more"


@pytest.mark.parametrize(
    ("bad", "reason", "why"),
    [
        (b"nope", "not JSON", "not JSON"),
        (b"[" * 100_000, "not JSON", "not JSON"),
        (b'{"text": "x", "id": ' + b"9" * 5000 + b"}", "too large", "an id of over 4096 bytes"),
        (b"[1]", "no text", 'not an object with a "text"'),
        (b"{}", "no text", "no text"),
        (b'{"text": 3}', "no text", "no text"),
        (b'{"text": " \\n"}', "no text", "no text"),
        ('{"text": "é"}'.encode("latin-1"), "not UTF-8", "not UTF-8: save the file as UTF-8"),
        (b'{"text": ["a", "b"]}', "no text", 'no text: not a string, but ["a", "b"]'),
        (b'{"text": NaN}', "no text", "no text"),
        (b'[{"text": "x"}]', "no text", 'not an object with a "text": write one object a line'),
        (
            b"{",
            "not JSON",
            "not JSON: write one object a line, as `jq -c '.[]'` does with an array",
        ),
        (b'{"text": "x", "id": "' + b"i" * 5000 + b'"}', "too large", "an id of over 4096 bytes"),
        (b'{"text": "' + LONG + b'"}', "too large", "over 32 MB"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_bad_lines_are_named_counted_and_skipped(tmp_path, bad, reason, why):
    line_1 = jsonl({"text": "one"})
    line_2 = with_32_mb(bad) + b"\n"
    line_3 = jsonl({"text": "three"})
    path = write(tmp_path / "a.jsonl", line_1 + line_2 + line_3)
    pages, skips, messages = read(path)
    assert [(page.page_id, page.text) for page in pages] == [(1, "one"), (3, "three")]
    assert skips == {reason: 1}
    (message,) = messages
    assert message.startswith(f"{path}, line 2: {why}")
    assert message.endswith("; skipped")


@pytest.mark.parametrize(
    ("bad", "reason", "why"),
    [
        (b"x\n", "no text", "no text: 1 of 2 cells"),
        (b'x," "\n', "no text", "no text"),
        ("x,é\n".encode("latin-1"), "not UTF-8", "not UTF-8"),
        (b'x,"' + LONG + b'"\n', "too large", "over 32 MB"),
        (b'x,"' + LINES, "too large", "a quotation mark is not closed"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_bad_rows_are_named_counted_and_skipped(tmp_path, bad, reason, why):
    lines_1_to_3 = b"id,text\n1,one\n\n"
    path = write(tmp_path / "a.csv", lines_1_to_3 + with_32_mb(bad) + b"3,three\n")
    pages, skips, messages = read(path)
    assert pages[0].text == "one"
    assert pages[-1].text == "three"
    assert skips == {reason: 1}
    (message,) = messages
    assert message.startswith(f"{path}, line 4: ")
    assert why in message


def test_an_id_that_came_before_is_skipped_in_whatever_file(tmp_path):
    first_50 = [{"text": f"t{number}", "id": str(number)} for number in range(50)]
    repeated = [{"text": "again", "id": str(number)} for number in range(10)]
    first = write(tmp_path / "1.jsonl", jsonl(*first_50, *repeated))
    second = write(tmp_path / "2.csv", "id,text\n7,again\n,nameless\n,nameless\n")
    pages, skips, messages = read(first, second)
    texts = [record["text"] for record in first_50]
    assert texts_of(pages) == [*texts, "nameless", "nameless"]
    n_repeated = len(repeated) + 1  # and one in the second file
    assert skips == {"repeated": n_repeated}
    assert messages[0] == f"{first}, line 51: the id '0' is a duplicate; skipped"
    assert len(messages) == MOST_NAMED + 1  # the last is for all others
    assert "further skipped documents" in messages[-1]
    files = TextFiles([first, second])
    list(files.first_reading())
    second_reading = [page for page, _ in files.read() if isinstance(page, Page)]
    assert [page.page_id for page in second_reading] == [page.page_id for page in pages]
    assert files.mark()["repeated"] == n_repeated


def test_ids_are_told_apart_in_at_most_32_bytes_each():
    ids = [f"id {number}" for number in range(20_000)]
    seen = SeenIds()
    assert all(seen.add(each) for each in ids)
    assert not any(seen.add(each) for each in ids)
    most_that_pickle_adds = 8192
    assert len(pickle.dumps(seen)) <= 32 * len(ids) + most_that_pickle_adds
    at_once = SeenIds.of(iter(ids))
    for known in (seen, at_once):
        assert all(each in known for each in ids)
        assert "another id" not in known
    assert not at_once.add(ids[0])
    assert at_once.add("another id")
    assert len(pickle.dumps(at_once)) <= 8 * len(ids) + most_that_pickle_adds


def test_files_that_were_not_read_before_are_read_once_to_find_repeated_ids(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl({"text": "x", "id": "1"}, {"text": "y", "id": "1"}))
    known = TextFiles([path])
    list(known.first_reading())
    unread = TextFiles([path])
    assert unread.mark() == known.mark()
    assert unread.mark()["repeated"] == 1
    assert unread.bytes_read == known.bytes_read == os.path.getsize(path)


def test_titles_are_one_bounded_line_that_utf_8_can_carry(tmp_path):
    with_surrogates = {"text": "a\ud800b", "title": "two\n lines\udfff", "id": "\ud800"}
    of_long_title = {"text": "b", "title": "é" * 300}
    path = write(tmp_path / "a.jsonl", jsonl(with_surrogates, of_long_title))
    mended, shortened = read_pages(path)
    assert (mended.text, mended.title, mended.id) == ("a�b", "two lines�", "�")
    bytes_of_letter = len("é".encode())
    assert shortened.title == "é" * (LONGEST_TITLE // bytes_of_letter)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("-", r"texts are read twice"),
        ("absent.jsonl", r"no such file or folder"),
        ("a.docx", r"not a supported kind of file: give \.jsonl, \.csv, \.tsv, \.txt"),
        ("a.gz", r"not a supported kind of file"),
        ("a.pq", r"a\.pq: rename it, so that its name ends with \.parquet"),
        ("a.feather", r"a\.feather: write it as \.parquet: pandas\.read_feather"),
        (
            "fold*/*.jsonl",
            r"no such file or folder; instead of a pattern, give the folder, or each",
        ),
        (
            "a.json",
            r"a\.json: write one object a line into a \.jsonl: jq -c '\.\[\]' FILE > FILE\.jsonl",
        ),
        ("pipe.jsonl", r"a pipe or a device"),
        ("folder", r"no \.txt file in this folder"),
        ("empty.jsonl", r"no documents in"),
        ("prose.jsonl", r"no documents in prose\.jsonl \(.*line 1: not JSON"),
        (
            "cut.jsonl.zst",
            r"no documents in cut\.jsonl\.zst \(.*zst: cut off; everything after line 0",
        ),
        ("empty.csv", r"the file is empty"),
        ("cut.csv.zst", r"cut\.csv\.zst: the file is cut off$"),
    ],
)
def test_paths_without_documents_are_refused_in_one_line(tmp_path, name, message):
    for bad in (
        "a.docx",
        "a.pq",
        "a.feather",
        "a.json",
        "folder/readme.md",
        "empty.jsonl",
        "empty.csv",
    ):
        write(tmp_path / bad, "")
    write(tmp_path / "a.gz", gzip.compress(b"x"))
    write(tmp_path / "prose.jsonl", "It was\nnot JSON.\n")
    whole = zstandard.compress(jsonl({"text": "x"}))
    for name_of_cut in ("cut.jsonl.zst", "cut.csv.zst"):
        write(tmp_path / name_of_cut, whole[:9])
    os.mkfifo(tmp_path / "pipe.jsonl")
    path = name if name == "-" else str(tmp_path / name)
    with pytest.raises(BadSource, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_path_that_is_given_twice_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl({"text": "x"}))
    with pytest.raises(BadSource, match="given twice"):
        TextFiles([path, path])


def test_a_header_that_never_ends_is_refused(tmp_path):
    over_32_mb = b"\0" * ((32 << 20) + 1)
    path = write(tmp_path / "large.csv.gz", gzip.compress(over_32_mb, 1))
    with pytest.raises(BadSource, match=r"large\.csv\.gz, line 1: over 32 MB$"):
        read(path)
    # If the header were copied for each of its lines, this would take hours.
    unclosed = b'"text' + b"\n" * (4 << 20)
    path = write(tmp_path / "a.csv", unclosed)
    with pytest.raises(BadSource, match="no documents in"):
        read(path)


@pytest.mark.parametrize("filler", [b"\0", b"\n", b"{}\n"])
@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz", ".zst"])
def test_a_decompression_bomb_is_refused(tmp_path, monkeypatch, packed, filler):
    most_at_once = 1 << 16
    most_without_document = 3 * most_at_once
    monkeypatch.setattr(unpacking, "_MOST_UNPACKED", most_at_once)
    monkeypatch.setattr(contents, "MOST_WITHOUT", most_without_document)
    n_fillers = 2 * most_without_document // len(filler)
    bomb = jsonl({"text": "x"}) + filler * n_fillers
    path = write(tmp_path / f"bomb.jsonl{packed}", PACKERS[packed](bomb))
    with pytest.raises(BadSource, match="no document in over"):
        read(path)
    data = jsonl({"text": "same words " * 100}) * 1000
    path = write(tmp_path / f"a.jsonl{packed}", PACKERS[packed](data))
    assert len(read_pages(path)) == 1000, "documents of any number are no bomb"


@pytest.mark.parametrize(
    ("name", "begin"), [("a.jsonl", b'{"text": "x"}\n'), ("a.csv", b"text\nx\n"), ("a.txt", b"x\n")]
)
def test_empty_lines_without_end_are_refused(tmp_path, monkeypatch, name, begin):
    monkeypatch.setattr(contents, "MOST_WITHOUT", 1 << 20)
    most_lines = (1 << 20) // contents.LINE_COST
    data = begin + b"\n" * 3 * most_lines
    path = write(tmp_path / name, data)
    # "0 GB": a megabyte, rounded.
    message = f"{re.escape(name)}: no document in over {most_lines:,} lines, or 0 GB"
    with pytest.raises(BadSource, match=message):
        read(path)
    # A file of a folder is one document, however many empty lines it has.
    write(tmp_path / "docs" / "one.txt", data)
    read(str(tmp_path / "docs"))


def long_window(data):
    """The data packed as by `zstd --long=31`, which names the size of its window in the header."""
    parameters = zstandard.ZstdCompressionParameters(window_log=31)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return writer.compress(data) + writer.flush()


def large_dictionary(data):
    settings = {"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 256 << 20}
    return lzma.compress(data, filters=[settings])


@pytest.mark.parametrize(("ending", "pack"), [(".zst", long_window), (".xz", large_dictionary)])
def test_a_file_that_needs_much_memory_is_refused_for_that(tmp_path, ending, pack):
    path = write(tmp_path / f"a.jsonl{ending}", pack(jsonl({"text": "x"}) * 1000))
    message = rf"a\.jsonl\{ending}: unpacking it needs over 128 MB of memory"
    with pytest.raises(BadSource, match=message):
        read(path)


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz", ".zst"])
def test_a_file_that_is_cut_off_gives_what_comes_before(tmp_path, packed):
    records = [{"text": os.urandom(400).hex()} for _ in range(4000)]
    data = PACKERS[packed](jsonl(*records))
    nine_tenths = len(data) * 9 // 10
    path = write(tmp_path / f"a.jsonl{packed}", data[:nine_tenths])
    pages, skips, messages = read(path)
    assert 2000 < len(pages) < 4000
    assert not skips
    assert f"everything after line {len(pages):,} is left out" in messages[0]


N_RECORDS = 60
N_ROWS = 30
N_PARAGRAPHS = 20
N_FILES_IN_FOLDER = 9


def every_kind_of_file(folder):
    """The paths of six files, two of each kind, and of a folder of files, with good documents, bad
    ones and ids that repeat."""
    records = []
    for number in range(N_RECORDS):
        repeating = {"text": f"t{number}", "id": str(number % 37)}
        without_text = {"no": number}
        records.append(without_text if number % 5 == 0 else repeating)
    rows = [f'"x\n{number}",c{number}\n' for number in range(N_ROWS)]
    paragraphs = []
    for number in range(N_PARAGRAPHS):
        blank_lines = "\n" * (number % 4)
        paragraphs.append("a" * number + "\nb\n" + blank_lines)
    plain = "".join(paragraphs).encode()
    for number in range(N_FILES_IN_FOLDER):
        write(folder / "e" / f"{number}.txt", "x\n" * (number % 4))
    return [
        write(folder / "a.jsonl", jsonl(*records)),
        write(folder / "b.jsonl.bz2", bz2.compress(jsonl(*records))),
        write(folder / "c.csv", "text,id\n" + "".join(rows)),
        write(folder / "d.csv.zst", zstandard.compress(b"text\n" + b"a\n" * N_ROWS)),
        write(folder / "f.txt", plain),
        write(folder / "g.txt.gz", gzip.compress(plain)),
        str(folder / "e"),
    ]


@pytest.mark.parametrize(
    ("lines", "of_plain_text", "of_folder"),
    [
        # A file is a document.
        (None, 1, N_FILES_IN_FOLDER),
        # A paragraph without a blank line after it, as each fourth is, is not parted from the next.
        (False, N_PARAGRAPHS - N_PARAGRAPHS // 4, N_FILES_IN_FOLDER),
        # Two lines a paragraph, of which the very first is empty. The files of the folder have 0, 1,
        # 2, 3 lines, and again.
        (True, 2 * N_PARAGRAPHS - 1, sum(number % 4 for number in range(N_FILES_IN_FOLDER))),
    ],
)
def test_every_place_goes_on_with_the_next_document(tmp_path, lines, of_plain_text, of_folder):
    paths = every_kind_of_file(tmp_path)
    files = TextFiles(paths, lines=lines)
    list(files.first_reading())
    found = list(files.read())
    of_records_and_rows = 2 * N_RECORDS + 2 * N_ROWS
    assert len(found) == of_records_and_rows + 2 * of_plain_text + of_folder
    for done in range(0, len(found), 3):
        _, place = found[done]
        again = TextFiles(paths, lines=lines)
        again.mark(files.mark())
        assert list(again.read(place)) == found[done + 1 :]


def next_descriptor():
    """The number of the next file that is opened: the lowest that is free."""
    number = os.open(os.devnull, os.O_RDONLY)
    os.close(number)
    return number


def test_a_folder_in_place_of_a_file_is_closed_again(tmp_path):
    before = next_descriptor()
    with pytest.raises(OSError, match="a folder, a pipe or a device"):
        contents.open_regular(str(tmp_path))
    assert next_descriptor() == before
