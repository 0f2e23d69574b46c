"""People's own documents: what is read as one, what is named and skipped; folders that cannot be
read."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import pickle
import sys
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from tests.crawler.dumps import write
from wikitopics.crawler import unpacking
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.page import Page
from wikitopics.crawler.texts import records as text_lines
from wikitopics.crawler.texts.files import MOST_NAMED, SeenIds, TextFiles


def read(*paths, column=None, **options):
    """(documents, skips by reason, what was told) of a first reading.

    What is told of the files and what is told of their records are one list.
    """
    told = []
    pages = []
    skips = Counter()
    files = TextFiles(paths, column, told.append, **options)
    for page, _ in files.first_reading(told.append):
        if isinstance(page, Page):
            pages.append(page)
        else:
            skips[page] += 1
    return pages, skips, told


PACKERS = {
    "": bytes,  # not packed
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
}


def jsonl(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


LARGEST_DOCUMENT = 32 << 20
LONG = b"<a long text>"
LINES = b"<long lines>"
"""Stand for texts that are too large, in cases whose names would be as long."""


def written_out(bad):
    """The bytes with texts of 32 MB in place of `LONG` and `LINES`."""
    long_line = b"y" * (1 << 20) + b"\n"
    return bad.replace(LONG, b"x" * LARGEST_DOCUMENT).replace(LINES, long_line * 32)


def titles(pages):
    return [page.title for page in pages]


def texts(pages):
    return [page.text for page in pages]


@pytest.mark.parametrize("packed", PACKERS)
def test_json_lines(tmp_path, packed):
    first = {"text": "first é", "title": "One", "id": "a/1", "url": "http://x"}
    second = {"text": "second", "id": 17}
    third = {"text": "third"}
    byte_order_mark = b"\xef\xbb\xbf"
    first_line = jsonl(first).replace(b"\n", b"\r\n")
    empty_line = b"\n"
    data = byte_order_mark + first_line + empty_line + jsonl(second, third)
    path = write(tmp_path / f"notes.jsonl{packed}", PACKERS[packed](data))
    pages, skips, told = read(path)
    assert [(page.page_id, page.title, page.id, page.text) for page in pages] == [
        (1, "One", "a/1", "first é"),
        (2, "17", "17", "second"),
        (3, f"notes.jsonl{packed}:4", "", "third"),
    ]
    assert {(page.revision_id, page.markup) for page in pages} == {(0, "text")}
    assert (skips, told) == ({}, [])


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize(
    ("ending", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".CSV", "\t")]
)
def test_tables(tmp_path, packed, ending, delimiter):
    long = "word " * 60_000  # csv's own limit for a field is 131,072 characters
    rows = [
        ("ID", " Title", "long\ntext", "n"),
        ("x1", 'He said "no"', "two\r\nlines, one; field\there", "1"),
        ("", "", long, "2"),
    ]
    table = io.StringIO(newline="")
    csv.writer(table, delimiter=delimiter).writerows(rows)
    data = b"\xef\xbb\xbf" + table.getvalue().encode()
    name = f"t{ending}{packed}"
    path = write(tmp_path / name, PACKERS[packed](data))
    pages, skips, _ = read(path, column="long\ntext")
    assert [(page.page_id, page.id, page.title) for page in pages] == [
        (1, "x1", 'He said "no"'),
        (2, "", f"{name}:5"),
    ]
    assert texts(pages) == ["two\r\nlines, one; field\there", long]
    assert not skips


def test_the_text_column_is_called_text_unless_named(tmp_path):
    path = write(tmp_path / "t.csv", "id,text\n1,hello\n")
    assert texts(read(path)[0]) == ["hello"]
    says = r"t\.csv: there is no column 'body'\. Name one with --text-column: 'id', 'text'$"
    with pytest.raises(BadSource, match=says):
        read(path, column="body")
    broken = write(tmp_path / "b.csv", '"of the\r\nshop",text\r\n1,hello\r\n')
    assert texts(read(broken)[0]) == ["hello"]
    other = write(tmp_path / "o.csv", "id;;body\n1;2;hello\n")
    with pytest.raises(BadSource, match=r"which column holds the text.*: 'id', '', 'body'$"):
        read(other)
    for empty in (b"", b"\n"):
        with pytest.raises(BadSource, match=r"e\.csv: the file is empty$"):
            read(write(tmp_path / "e.csv", empty))
    with pytest.raises(BadSource, match="--text-column"):
        read(write(tmp_path / "e.csv", b"id"))
    with pytest.raises(BadSource, match="line 1: not UTF-8"):
        read(write(tmp_path / "u.csv", "é,text\n1,hello\n".encode("latin-1")))


def test_the_text_column_is_a_key_of_json_lines_too(tmp_path):
    path = write(
        tmp_path / "a.jsonl", jsonl({"id": 1, "text": "no", "body": "one"}, {"text": "no"})
    )
    pages, skips, _ = read(path, column="body")
    assert ([(page.text, page.id) for page in pages], skips) == ([("one", "1")], {"no text": 1})
    for column, says in (
        ("other", "there is no key 'other'. Name one with --text-column: 'id', 'text', 'body'"),
        ("Body", "there is no key 'Body'"),
    ):
        with pytest.raises(BadSource, match=rf"^a\.jsonl: {says}"):
            read(path, column=column)
    with pytest.raises(
        BadSource, match=r"which key holds the text\? Name one with --text-column: '', 'b'$"
    ):
        read(write(tmp_path / "b.jsonl", jsonl({"": 1}, {"b": "x"})))
    many = []
    for first in range(0, 9000, 1000):
        many.append({f"key {number}": 1 for number in range(first, first + 1000)})
    with pytest.raises(BadSource, match="'key 0', 'key 1', ") as caught:
        read(write(tmp_path / "c.jsonl", jsonl(*many)))
    assert len(str(caught.value)) < 300
    table = write(tmp_path / "t.csv", "body\ntwo\n")
    other = write(tmp_path / "d.jsonl", jsonl({"text": "x"}))
    assert texts(read(other, table, column="body")[0]) == ["x", "two"]
    assert texts(read(path, column="other", lines=None)[0]) == ["no", "no"], "as in 1.1.0"


def test_ids_and_titles_have_columns_and_keys_of_their_own(tmp_path):
    table = write(tmp_path / "t.csv", "ID,text,Ref,head\n1,x,r1,H1\n")
    lines = write(tmp_path / "a.jsonl", jsonl({"text": "y", "id": 2, "Ref": "r2"}, {"text": "z"}))
    pages, _, _ = read(table, lines, id="Ref", title="head")
    assert [(page.id, page.title) for page in pages] == [
        ("r1", "H1"),
        ("r2", "r2"),
        ("", "a.jsonl:2"),
    ]
    with pytest.raises(
        BadSource, match=r"no column or key 'ref'\. Name .* --id-column: 'ID', .*'head'"
    ):
        read(table, lines, id="ref")
    with pytest.raises(
        BadSource, match=r"no column or key 'x'\..* --title-column: there are none$"
    ):
        read(write(tmp_path / "n.txt", "x"), title="x")


BYTE_ORDER_MARK = "\ufeff"
PARAGRAPHS = (
    f"{BYTE_ORDER_MARK}\n \n"  # two blank lines
    "one\r\ntwo é\n"
    " \t\r\n\n\u00a0\n"  # three blank lines: blanks, nothing, a no-break space
    "three\n"
    "\n\n"
    "four"
)


@pytest.mark.parametrize("packed", PACKERS)
def test_blank_lines_separate_the_documents_of_a_plain_text(tmp_path, packed):
    path = write(tmp_path / f"notes.txt{packed}", PACKERS[packed](PARAGRAPHS.encode()))
    pages, skips, told = read(path)
    found = [(1, "one\r\ntwo é\n", "one two é"), (2, "three\n", "three"), (3, "four", "four")]
    assert [(page.page_id, page.text, page.title) for page in pages] == found
    assert (skips, told) == ({}, [])
    by_line, _, _ = read(path, lines=True)
    assert [page.text.strip() for page in by_line] == ["one", "two é", "three", "four"]
    ((whole,), _, _) = read(path, lines=None)
    without_mark = PARAGRAPHS.removeprefix(BYTE_ORDER_MARK)
    assert (whole.text, whole.title) == (without_mark, f"notes.txt{packed}"), "as in 1.1.0"
    write(tmp_path / "docs" / "a.txt", PARAGRAPHS)
    for lines, documents in ((False, 1), (True, 4), (None, 1)):
        in_folder, _, _ = read(str(tmp_path / "docs"), lines=lines)
        assert len(in_folder) == documents


def test_the_title_of_a_part_of_a_plain_text_is_how_it_begins(tmp_path):
    parts = [
        "a sentence of some words that goes on for a very long while indeed\nand on",
        "x" * 61,
        f"{'y' * 60} z",
        f"{' ' * 1000}far",
    ]
    path = write(tmp_path / "a.txt", "\n\n".join(parts))
    assert titles(read(path)[0]) == [
        "a sentence of some words that goes on for a very long while…",
        f"{'x' * 60}…",
        f"{'y' * 60}…",
        "a.txt:8",
    ]
    assert titles(read(path, markup="html")[0]) == [
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
        written_out(LONG),
        written_out(LINES).strip(),
        b"six",
    ]
    path = write(tmp_path / "a.txt", b"\n\n".join(parts))
    pages, skips, told = read(path)
    assert [(page.page_id, page.text.strip()) for page in pages] == [(1, "one"), (6, "six")]
    assert skips == {"not UTF-8": 2, "too large": 2}
    assert told == [
        f"{path}, line 3: not UTF-8: save the file as UTF-8; skipped",
        f"{path}, line 5: a binary file, or not UTF-8 text; skipped",
        f"{path}, line 7: over 32 MB; skipped",
        f"{path}, line 9: over 32 MB; skipped",
    ]


def test_a_folder_of_texts(tmp_path):
    for name in (
        "b.txt",
        "a/z.txt",
        "a/k.TXT",
        "c/deep/er.txt",
        ".hidden.txt",
        ".git/x.txt",
        "data.json",
    ):
        write(tmp_path / "docs" / name, f"text of {name}")
    write(tmp_path / "docs" / "d.txt.gz", gzip.compress(b"packed"))
    pages, skips, told = read(str(tmp_path / "docs"))
    titles = ["a/k.TXT", "a/z.txt", "b.txt", "c/deep/er.txt", "d.txt.gz"]
    assert [(page.page_id, page.title) for page in pages] == list(enumerate(titles, 1))
    assert [pages[2].text, pages[4].text] == ["text of b.txt", "packed"]
    assert (skips, told) == ({}, [])
    single, _, _ = read(str(tmp_path / "docs" / "b.txt"))
    assert [(page.title, page.id) for page in single] == [("text of b.txt", "")]


def test_files_count_on_one_behind_the_other(tmp_path):
    first = write(tmp_path / "1.jsonl", jsonl({"text": "a"}, {}, {"text": "b"}))
    second = write(tmp_path / "2.csv", "text\nc\n")
    write(tmp_path / "3" / "d.txt", "d")
    pages, _, _ = read(first, second, str(tmp_path / "3"))
    assert [(page.page_id, page.text) for page in pages] == [(1, "a"), (3, "b"), (4, "c"), (5, "d")]
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
    one = jsonl({"text": "one"})
    three = jsonl({"text": "three"})
    path = write(tmp_path / "a.jsonl", one + written_out(bad) + b"\n" + three)
    pages, skips, told = read(path)
    assert [(page.page_id, page.text) for page in pages] == [(1, "one"), (3, "three")]
    assert skips == {reason: 1}
    (line,) = told
    assert line.startswith(f"{path}, line 2: {why}")
    assert line.endswith("; skipped")


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
    path = write(tmp_path / "a.csv", b"id,text\n1,one\n\n" + written_out(bad) + b"3,three\n")
    pages, skips, told = read(path)
    assert (pages[0].text, pages[-1].text) == ("one", "three")
    assert skips == {reason: 1}
    (line,) = told
    assert line.startswith(f"{path}, line 4: ")
    assert why in line


def test_bad_files_of_a_folder_are_named_counted_and_skipped(tmp_path):
    folder = tmp_path / "docs"
    write(folder / "good.txt", "\ufeffgood")
    write(folder / "empty.txt", "")
    write(folder / "latin.txt", "é".encode("latin-1"))
    packed = gzip.compress(b"text" * 999)
    write(folder / "cut.txt.gz", packed[: len(packed) - 9])
    write(folder / "large.txt.xz", lzma.compress(b"x" * (LARGEST_DOCUMENT + 1)))
    os.mkfifo(folder / "pipe.txt")
    (folder / "gone.txt").symlink_to("nowhere")
    (folder / "self.txt").symlink_to("self.txt")
    pages, skips, told = read(str(folder))
    assert [(page.page_id, page.text) for page in pages] == [(4, "good")]
    assert skips == {"no text": 1, "not UTF-8": 1, "too large": 1, "damaged": 4}
    assert [line.removeprefix(str(folder)).partition(":")[0] for line in told] == [
        "/cut.txt.gz",
        "/empty.txt",
        "/gone.txt",
        "/large.txt.xz",
        "/latin.txt",
        "/pipe.txt",
        "/self.txt",
    ]


def test_an_id_that_came_before_is_skipped_in_whatever_file(tmp_path):
    # The last ten of 60 have the ids of the first ten.
    records = [{"text": f"t{number}", "id": str(number % 50)} for number in range(60)]
    first = write(tmp_path / "1.jsonl", jsonl(*records))
    # The first of these has the id of one above; those without an id are not compared.
    second = write(tmp_path / "2.csv", "id,text\n7,again\n,nameless\n,nameless\n")
    pages, skips, told = read(first, second)
    kept = [f"t{number}" for number in range(50)]
    assert texts(pages) == [*kept, "nameless", "nameless"]
    assert skips == {"repeated": 10 + 1}
    assert told[0] == f"{first}, line 51: the id '0' is a duplicate; skipped"
    assert len(told) == MOST_NAMED + 1
    assert "further skipped documents" in told[-1]
    files = TextFiles([first, second])
    list(files.first_reading())
    read_again = [page for page, _ in files.read() if isinstance(page, Page)]
    assert [page.page_id for page in read_again] == [page.page_id for page in pages]
    assert files.mark()["repeated"] == 10 + 1


def test_ids_are_told_apart_in_a_table_that_grows_and_in_one_reading(tmp_path):
    seen = SeenIds()
    assert all(seen.add(f"id {i}") for i in range(20_000))
    assert not any(seen.add(f"id {i}") for i in range(20_000))
    overhead = 8192
    assert len(pickle.dumps(seen)) <= 32 * 20_000 + overhead, "at most 32 bytes for each id"
    path = write(tmp_path / "a.jsonl", jsonl({"text": "x", "id": "1"}, {"text": "y", "id": "1"}))
    unread = TextFiles([path])
    known = TextFiles([path])
    list(known.first_reading())
    assert unread.mark() == known.mark()
    assert unread.mark()["repeated"] == 1
    assert unread.bytes_read == known.bytes_read == os.path.getsize(path)


def test_titles_are_one_bounded_line_that_utf_8_can_carry(tmp_path):
    odd = {"text": "a\ud800b", "title": "two\n lines\udfff", "id": "\ud800"}
    pages, _, _ = read(write(tmp_path / "a.jsonl", jsonl(odd, {"text": "b", "title": "é" * 300})))
    assert (pages[0].text, pages[0].title, pages[0].id) == ("a�b", "two lines�", "�")
    assert pages[1].title == "é" * 127


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("-", "texts are read twice"),
        ("absent.jsonl", "no such file or folder"),
        ("a.docx", r"not a supported kind of file: give \.jsonl, \.csv, \.tsv, \.txt"),
        ("a.gz", "not a supported kind of file"),
        (
            "a.json",
            r"a\.json: write one object a line into a \.jsonl: "
            r"jq -c '\.\[\]' FILE > FILE\.jsonl",
        ),
        ("pipe.jsonl", "a pipe or a device"),
        ("folder", r"no \.txt file in this folder"),
        ("empty.jsonl", "no documents in"),
        ("prose.jsonl", r"no documents in prose\.jsonl \(.*line 1: not JSON"),
        (
            "cut.jsonl.zst",
            r"no documents in cut\.jsonl\.zst \(.*zst: cut off; everything after line 0",
        ),
        ("empty.csv", "the file is empty"),
        ("cut.csv.zst", r"cut\.csv\.zst: the file is cut off$"),
    ],
)
def test_paths_without_documents_are_refused_in_one_line(tmp_path, name, says):
    for bad in ("a.docx", "a.json", "folder/readme.md", "empty.jsonl", "empty.csv"):
        write(tmp_path / bad, "")
    write(tmp_path / "a.gz", gzip.compress(b"x"))
    write(tmp_path / "prose.jsonl", "It was\nnot JSON.\n")
    for name_of_cut in ("cut.jsonl.zst", "cut.csv.zst"):
        write(tmp_path / name_of_cut, zstandard.compress(jsonl({"text": "x"}))[:9])
    os.mkfifo(tmp_path / "pipe.jsonl")
    path = name if name == "-" else str(tmp_path / name)
    with pytest.raises(BadSource, match=says) as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_path_is_named_once_and_a_header_whose_quotation_mark_is_never_closed_ends(tmp_path):
    path = write(tmp_path / "a.jsonl", jsonl({"text": "x"}))
    with pytest.raises(BadSource, match="given twice"):
        TextFiles([path, path])
    path = write(tmp_path / "large.csv.gz", gzip.compress(b"\0" * (LARGEST_DOCUMENT + 1), 1))
    with pytest.raises(BadSource, match=r"large\.csv\.gz, line 1: over 32 MB$"):
        read(path)
    # A header of millions of lines is read in a moment, since it is not copied for every line.
    path = write(tmp_path / "a.csv", b'"text' + b"\n" * (4 << 20))
    with pytest.raises(BadSource, match="no documents in"):
        read(path)


@pytest.mark.parametrize("filler", [b"\0", b"\n", b"{}\n"])
@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz", ".zst"])
def test_a_decompression_bomb_is_refused(tmp_path, monkeypatch, packed, filler):
    block = 1 << 16
    most = 3 * block
    monkeypatch.setattr(unpacking, "_MOST_UNPACKED", block)
    monkeypatch.setattr(text_lines, "MOST_WITHOUT", most)
    bomb = jsonl({"text": "x"}) + filler * (2 * most // len(filler))
    path = write(tmp_path / f"bomb.jsonl{packed}", PACKERS[packed](bomb))
    with pytest.raises(BadSource, match="no document in over"):
        read(path)
    harmless = jsonl({"text": "same words " * 100}) * 1000
    pages, _, _ = read(write(tmp_path / f"a.jsonl{packed}", PACKERS[packed](harmless)))
    assert len(pages) == 1000, "documents of any number are no bomb"


@pytest.mark.parametrize(
    ("name", "begin"), [("a.jsonl", b'{"text": "x"}\n'), ("a.csv", b"text\nx\n"), ("a.txt", b"x\n")]
)
def test_empty_lines_without_end_are_refused(tmp_path, monkeypatch, name, begin):
    most = 1 << 20
    monkeypatch.setattr(text_lines, "MOST_WITHOUT", most)
    path = write(tmp_path / name, begin + b"\n" * (1 << 15))
    lines = most // text_lines.LINE_COST
    says = rf"a\.(jsonl|csv|txt): no document in over {lines:,} lines, or 0 GB"
    with pytest.raises(BadSource, match=says):
        read(path)
    write(tmp_path / "docs" / "one.txt", begin + b"\n" * (1 << 15))
    read(str(tmp_path / "docs"))


def long_window(data):
    """As by `zstd --long=31`: the window is named in the header."""
    parameters = zstandard.ZstdCompressionParameters(window_log=31)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return writer.compress(data) + writer.flush()


def large_dictionary(data):
    return lzma.compress(
        data, filters=[{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 256 << 20}]
    )


@pytest.mark.parametrize(("ending", "pack"), [(".zst", long_window), (".xz", large_dictionary)])
def test_a_file_that_needs_much_memory_is_refused_for_that(tmp_path, ending, pack):
    path = write(tmp_path / f"a.jsonl{ending}", pack(jsonl({"text": "x"}) * 1000))
    with pytest.raises(
        BadSource, match=rf"a\.jsonl\{ending}: unpacking it needs over 128 MB of memory"
    ):
        read(path)


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz", ".zst"])
def test_a_file_that_is_cut_off_gives_what_comes_before(tmp_path, packed):
    lines = jsonl(*({"text": os.urandom(400).hex()} for _ in range(4000)))
    data = PACKERS[packed](lines)
    path = write(tmp_path / f"a.jsonl{packed}", data[: len(data) * 9 // 10])
    pages, skips, told = read(path)
    assert 2000 < len(pages) < 4000
    assert not skips
    assert f"everything after line {len(pages):,} is left out" in told[0]


def records_of_all_kinds():
    """60 records: every fifth has no text, and from the 38th on, ids occur again."""
    for number in range(60):
        if number % 5 == 0:
            yield {"no": number}
        else:
            yield {"text": f"t{number}", "id": str(number % 37)}


def paragraphs_and_lines():
    """40 lines of text, the first of them empty, in 15 paragraphs: after a pair there are up to
    three empty lines."""
    pairs = []
    for number in range(20):
        empty_lines = "\n" * (number % 4)
        pairs.append("a" * number + "\nb\n" + empty_lines)
    return "".join(pairs).encode()


IN_RECORDS = 2 * 60 + 2 * 30
"""Two files of 60 JSON lines, and two tables of 30 rows."""


@pytest.mark.parametrize(
    ("lines", "documents"),
    [
        (None, IN_RECORDS + 2 * 1 + 9),  # each plain text is one
        (False, IN_RECORDS + 2 * 15 + 9),  # paragraphs, and the files of a folder
        (True, IN_RECORDS + 2 * 39 + 12),  # lines that are not blank
    ],
)
def test_every_place_goes_on_with_the_next_document(tmp_path, lines, documents):
    records = jsonl(*records_of_all_kinds())
    rows = "".join(f'"x\n{number}",c{number}\n' for number in range(30))
    plain = paragraphs_and_lines()
    paths = [
        write(tmp_path / "a.jsonl", records),
        write(tmp_path / "b.jsonl.bz2", bz2.compress(records)),
        write(tmp_path / "c.csv", f"text,id\n{rows}"),
        write(tmp_path / "d.csv.zst", zstandard.compress(b"text\n" + b"a\n" * 30)),
        write(tmp_path / "f.txt", plain),
        write(tmp_path / "g.txt.gz", gzip.compress(plain)),
        str(tmp_path / "e"),
    ]
    for number in range(9):
        write(tmp_path / "e" / f"{number}.txt", "x\n" * (number % 4))
    files = TextFiles(paths, lines=lines)
    list(files.first_reading())
    found = list(files.read())
    assert len(found) == documents
    for done in range(0, documents, 3):
        _, place = found[done]
        again = TextFiles(paths, lines=lines)
        again.mark(files.mark())
        assert list(again.read(place)) == found[done + 1 :]


def test_folders_that_cannot_be_read_or_vanish_are_told_and_left_out(tmp_path, monkeypatch):
    """The permission is denied by `os.scandir` here, since root may read every folder."""
    docs = tmp_path / "docs"
    for name in ("a", "shut"):
        write(docs / name / "x.txt", "text")
    shut = {docs / "shut"}
    gone = docs / "b"
    gone.mkdir()
    real_scandir = os.scandir

    def scandir(path):
        if Path(path) in shut:
            raise PermissionError(13, "Permission denied")
        if Path(path) == docs / "a":
            gone.rmdir()
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    pages, _, told = read(str(docs))
    assert titles(pages) == ["a/x.txt"]
    assert told == [
        f"{gone}: No such file or directory; this folder is skipped",
        f"{docs}/shut: Permission denied; this folder is skipped",
    ]
    shut.add(docs)
    with pytest.raises(BadSource, match=r"docs: Permission denied$"):
        read(str(docs))


def test_links_that_go_round_in_circles_are_told_and_left_out(tmp_path):
    write(tmp_path / "docs" / "a" / "x.txt", "text")
    (tmp_path / "docs" / "a" / "loop").symlink_to("..")
    (tmp_path / "docs" / "twin").symlink_to("a")
    (tmp_path / "docs" / "self").symlink_to("self")  # no folder and no .txt: nobody's text
    pages, skips, told = read(str(tmp_path / "docs"))
    assert titles(pages) == ["a/x.txt"]
    assert not skips
    assert [line.partition(": ")[2] for line in told] == [
        "a link to a folder already read; skipped"
    ] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's file systems are Linux's")
def test_no_link_leads_into_the_kernels_file_systems(tmp_path, monkeypatch):
    folder = tmp_path / "docs"
    write(folder / "x.txt", "text")
    write(tmp_path / "elsewhere" / "y.txt", "text")
    (folder / "other").symlink_to(tmp_path / "elsewhere")
    (folder / "kernel.txt").symlink_to("/proc/version")
    into = {
        "dev": "/dev",
        "proc": "/proc",
        "sys": "/sys",
        "self": "/proc/self/task",
        "fs": "/sys/fs/cgroup",
    }
    for name, target in into.items():
        (folder / name).symlink_to(target)
    walked = []
    real_scandir = os.scandir

    def scandir(path):
        walked.append(str(path))
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    pages, skips, told = read(str(folder))
    assert titles(pages) == ["other/y.txt", "x.txt"]
    assert not skips
    assert walked == [str(folder), str(folder / "other")]
    names = sorted([*into, "kernel.txt"])
    assert sorted(told) == [
        f"{folder}/{name}: a link into a kernel file system; skipped" for name in names
    ]
    with pytest.raises(BadSource, match="/proc/self: a kernel file system"):
        read("/proc/self")
