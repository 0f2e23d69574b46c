"""Parquet files: columns, what is not a whole file, damage, and memory."""

import base64
import io
import resource
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.commands import ROOT
from tests.crawler.parquet import rows_of, table, write
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.source import Asked
from wikitopics.crawler.texts import parquet_footer
from wikitopics.crawler.texts.files import are_parquet
from wikitopics.crawler.texts.kinds import LINES, NO_HEADER, TEXTS, Texts
from wikitopics.crawler.texts.parquet import BadRows
from wikitopics.crawler.texts.parquet_pages import ColumnChunk, ColumnPages, PageOver, page_header
from wikitopics.crawler.texts.parquet_rows import Rows

pytestmark = pytest.mark.interop
pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional extra")
pq = pytest.importorskip("pyarrow.parquet")


def pages(*paths, **names):
    """All documents of files, and what is told."""
    told = []
    return list(rows_of(*paths, **names).pages(told.append)), told


def texts(*paths, **names):
    return [page.text for page in pages(*paths, **names)[0]]


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "lz4", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_files_are_read_however_they_are_written(tmp_path, compression, version):
    made = table(range(500))
    path = write(
        tmp_path / "a.parquet",
        made,
        group=130,
        compression=compression,
        data_page_version=version,
        data_page_size=500,
        write_page_index=version == "2.0",
    )
    assert texts(path) == made.column("text").to_pylist()


@pytest.mark.parametrize(
    "type",
    [
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_texts_may_be_of_any_type_of_text(tmp_path, type):
    plain = pa.array(["one text", None, "another text", "one text"])
    ids = pa.array([7, 8, None, 2**62])
    try:
        path = write(tmp_path / "a.parquet", pa.table({"Text": plain.cast(type), "ID": ids}))
    except pa.ArrowNotImplementedError:
        pytest.skip(f"pyarrow {pa.__version__} writes no {type}")
    found, _ = pages(path)
    assert [(page.page_id, page.text, page.id) for page in found] == [
        (1, "one text", "7"),
        (3, "another text", ""),
        (4, "one text", str(2**62)),
    ]


def test_columns_are_named(tmp_path):
    made = table(range(3), body=["a b", "c d", "e f"], name=["x", "y", "z"], key=[10, 11, 12])
    found, _ = pages(write(tmp_path / "a.parquet", made), text="body", title="name", id="key")
    assert [(page.text, page.title, page.id) for page in found] == [
        ("a b", "x", "10"),
        ("c d", "y", "11"),
        ("e f", "z", "12"),
    ]


@pytest.mark.parametrize("type", [pa.float64(), pa.float32()], ids=str)
def test_ids_may_be_floats_as_pandas_makes_them_if_some_are_missing(tmp_path, type):
    ids = pa.array([1.0, None, 2.0**40, float("nan"), 0.5, float("inf"), -3.0], type)
    made = pa.table({"text": ["a"] * 7, "id": ids, "url": ["u"] * 7})
    found, _ = pages(write(tmp_path / "a.parquet", made))
    assert [page.id for page in found] == ["1", "", "1099511627776", "", "0.5", "inf", "-3"]


def test_columns_may_be_inside_others(tmp_path):
    inner = pa.array([{"b": "one", "n": 1}, None, {"b": "three", "n": 3}, {"b": None, "n": 4}])
    made = pa.table({"a": inner, "a.c": ["x", "y", "z", "w"], "text": ["1", "2", "3", "4"]})
    path = write(tmp_path / "a.parquet", made)
    assert texts(path, text="a.b") == ["one", "three"]
    assert texts(path, text="a.c") == ["x", "y", "z", "w"]
    assert [page.id for page in pages(path, id="a.n")[0]] == ["1", "", "3", "4"]


@pytest.mark.parametrize("name", [".", "text.", ".text", "b.c", "", "..c"])
def test_names_inside_others_may_have_dots(tmp_path, name):
    inner = pa.array([{name: "one", "n": "x"}, None, {name: "three", "n": "y"}])
    path = write(tmp_path / "a.parquet", pa.table({"a": inner}))
    assert texts(path, text=f"a.{name}", id="a.n") == ["one", "three"]


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        ({"body": ["a"]}, {}, r"which column holds the text\? Name one with --text-column: 'body'"),
        ({"text": ["a"]}, {"text": "body"}, "there is no column 'body'"),
        ({"text": [1]}, {}, r"'text' does not hold texts. Those that do: there are none"),
        ({"text": [["a", "b"]]}, {}, r"does not hold texts; lists of tokens are for"),
        ({"text": [{"a": "b"}]}, {}, r"does not hold texts. Those that do: 'text.a'"),
        ({"text": ["a"]}, {"id": "key"}, "there is no column 'key'.*--id-column"),
        ({"text": ["a"], "t": ["b"]}, {"title": "x"}, "there is no column 'x'.*--title-column"),
        (
            {"text": ["a"], "id": [True]},
            {"id": "id"},
            r"'id' does not hold texts or numbers \(boolean\). Those that do: 'text'",
        ),
        (
            {"text": ["a"], "id": [["b"]]},
            {"id": "id"},
            r"'id' does not hold texts or numbers \(lists\)",
        ),
        ({"Text": ["a"]}, {"text": "text"}, "no column 'text'. Did you mean 'Text'. Name one"),
    ],
)
def test_columns_that_are_not_there_are_told(tmp_path, columns, names, message):
    path = write(tmp_path / "a.parquet", pa.table(columns))
    with pytest.raises(BadSource, match=message):
        rows_of(path, **names)


@pytest.mark.parametrize(
    ("columns", "names", "called"),
    [
        ([("text", [1, 2]), ("text", ["a b", "c d"])], {}, "text"),
        ([("a", [{"b": "a b"}, {"b": "c d"}]), ("a.b", ["x", "y"])], {"text": "a.b"}, "a.b"),
        ([("text", ["a b", "c d"]), ("id", [0.5, 1.5]), ("id", ["p", "q"])], {}, "id"),
        ([("text", [{"a": "x"}, {"a": "y"}]), ("text", ["a b", "c d"])], {}, "text"),
    ],
)
def test_columns_of_one_name_are_not_taken_for_one_another(tmp_path, columns, names, called):
    made = pa.Table.from_arrays(
        [pa.array(values) for _, values in columns], [n for n, _ in columns]
    )
    path = write(tmp_path / "a.parquet", made)
    with pytest.raises(BadSource, match=f"several columns are called '{called}'"):
        rows_of(path, **names)


def test_text_that_is_not_utf_8_is_skipped(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"text": [b"one", b"\xff\xfe", b"three"]}))
    rows = rows_of(path)
    (batch,) = rows.batches(rows.groups[0])
    found = list(Rows.of([batch], rows.firsts, 0, "text").pages(SourceInfo("", None)))
    assert [page if isinstance(page, str) else page.text for page in found] == [
        "one",
        "not UTF-8",
        "three",
    ]


def data_of(made=None, **options):
    file = io.BytesIO()
    pq.write_table(made or table(range(100)), file, **options)
    return file.getvalue()


def encrypted(data):
    return data[:-4] + b"PARE"


def long_footer(data):
    return data[:-8] + (1 << 31).to_bytes(4, "little") + b"PAR1"


def broken_footer(data):
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    return data[:start] + b"\x99" * 50 + data[start + 50 :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "the file is empty"),
        (lambda data: b"PAR1", "cut off"),
        (lambda data: b"text,id\na,b\n", "not a Parquet file"),
        (lambda data: data[: len(data) // 2], "cut off; copy it again"),
        (encrypted, "encrypted"),
        (long_footer, "its footer is damaged"),
        (broken_footer, "its footer is damaged"),
        (lambda data: data[:-4] + b"XXXX", "cut off"),
    ],
)
def test_what_is_no_whole_file_is_told(tmp_path, damage, message):
    path = tmp_path / "a.parquet"
    path.write_bytes(damage(data_of()))
    with pytest.raises(BadSource, match=message):
        rows_of(str(path))


def test_encrypted_columns_are_told_if_the_footer_is_not_encrypted(tmp_path):
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def wrap_key(self, key, name):
            return base64.b64encode(key)

        def unwrap_key(self, wrapped, name):
            return base64.b64decode(wrapped)

    def written(column):
        configuration = encryption.EncryptionConfiguration(
            footer_key="key", column_keys={"key": [column]}, plaintext_footer=True
        )
        factory = encryption.CryptoFactory(lambda _: Keys())
        properties = factory.file_encryption_properties(
            encryption.KmsConnectionConfig(), configuration
        )
        path = tmp_path / f"{column}.parquet"
        return write(path, table(range(50)), encryption_properties=properties)

    with pytest.raises(BadSource, match=r"text\.parquet: encrypted; write it without encryption"):
        rows_of(written("text"))
    with pytest.raises(BadSource, match=r"id\.parquet: encrypted"):
        rows_of(written("id"))


def test_a_footer_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = write(tmp_path / "a.parquet", table(range(2000)), group=1)
    monkeypatch.setattr(parquet_footer, "MOST_FOOTER", 100_000)
    with pytest.raises(BadSource, match="its footer takes over 0 MB: write it with fewer"):
        rows_of(path)
    monkeypatch.undo()
    monkeypatch.setattr(parquet_footer, "_MOST_ELEMENTS", 1000)
    with pytest.raises(BadSource, match="over 1,000 row groups or columns"):
        rows_of(path)


def test_every_truncation_of_a_footer_is_told(tmp_path):
    data = data_of(table(range(20)))
    path = tmp_path / "a.parquet"
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    for length in range(0, size, 7):
        footer = data[start : start + length]
        path.write_bytes(data[:start] + footer + length.to_bytes(4, "little") + b"PAR1")
        with pytest.raises(BadSource, match=r"a\.parquet: "):
            rows_of(str(path))


def test_any_byte_may_be_wrong(tmp_path):
    """Nothing but messages follows, and other rows stay."""
    data = data_of(table(range(300)), row_group_size=100, compression="none")
    path = tmp_path / "a.parquet"
    for place in range(4, len(data), max(1, len(data) // 400)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            found, told = pages(str(path))
        except BadSource:
            continue
        assert len(found) <= 300
        assert all("row group" in message for message in told)


def test_damage_is_told_with_its_row(tmp_path):
    made = table(range(300))
    path = write(tmp_path / "a.parquet", made, group=100, compression="zstd")
    metadata = pq.read_metadata(path)
    chunk = metadata.row_group(1).column(2)
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    (tmp_path / "a.parquet").write_bytes(data)
    rows = rows_of(path)
    with pytest.raises(BadRows, match="damaged"):
        list(rows.batches(rows.groups[1]))
    found, told = pages(path)
    assert [page.page_id for page in found] == [*range(1, 101), *range(201, 301)]
    assert told == [f"{path}, row group 1: damaged from row 0 on; 100 of 100 rows are skipped"]


def test_headers_of_pages_are_read(tmp_path):
    path = write(tmp_path / "a.parquet", table(range(1000)), data_page_size=400)
    data = (tmp_path / "a.parquet").read_bytes()
    chunk = pq.read_metadata(path).row_group(0).column(2)
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    stop = at + chunk.total_compressed_size
    unpacked_bytes = 0
    while at < stop:
        unpacked, packed, size = page_header(data[at:stop])
        unpacked_bytes += unpacked + size
        at += packed + size
    assert at == stop
    assert unpacked_bytes == chunk.total_uncompressed_size
    for cut in range(size):
        with pytest.raises(ValueError, match="no header"):
            page_header(data[stop - packed - size : stop - packed - size + cut])


def varint(number):
    """A number as Thrift's compact protocol has it, but for the zigzag."""
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def header_of(unpacked, packed=1000, more=b""):
    """The header of a page."""
    return b"\x15\x00\x15" + varint(2 * unpacked) + b"\x15" + varint(2 * packed) + more + b"\0"


def test_headers_of_pages_are_read_as_pyarrow_reads_them():
    for more in (
        b"\x04" + varint(2 * 2) + varint(2 * 7),  # 16 bits are another field's
        b"\x06" + varint(2 * 2) + varint(2 * 7),
        b"\x05" + varint(2 * (2 + 65536)) + varint(2 * 5000),  # which is number 2
        b"\x05" + varint(2 * 2) + varint(2 * 5000 + (1 << 32)),
    ):
        header = header_of(5000, more=more)
        assert page_header(header) == (5000, 1000, len(header))


@pytest.mark.parametrize(
    ("unpacked", "of_column", "error"),
    [
        (400 << 20, 5000, ValueError),
        (400 << 20, 399 << 20, PageOver),
        (400 << 20, 20 << 20, PageOver),  # if what is written there is packed
        (8 << 20, 5000, PageOver),
        (-5, 5000, ValueError),
    ],
)
def test_pages_do_not_have_more_than_their_column(unpacked, of_column, error):
    data = header_of(unpacked if unpacked > 0 else (1 << 32) + unpacked) + bytes(1000)
    pages = ColumnPages(ColumnChunk(0, len(data), of_column, False))
    with pytest.raises(error):
        pages.check(len(data), lambda start, stop: data[start:stop], 1 << 20)


def test_a_document_of_any_size_is_read_or_skipped(tmp_path, monkeypatch):
    """Pages that are larger than usual are unpacked with fewer rows at a time."""
    large = "river " * (3 << 20)
    too_large = "x" * (33 << 20)
    made = pa.table({"text": ["one", large, "three", too_large, "five"]})
    path = write(tmp_path / "a.parquet", made, compression="zstd", use_dictionary=False)
    assert [len(text) for text in texts(path)] == [3, len(large), 5, 4]
    many = pa.table({"text": ["one"] * 3000 + ["x" * 9999] * 3000})
    path = write(tmp_path / "b.parquet", many, group=6000, use_dictionary=False)
    assert texts(path) == many.column("text").to_pylist()
    for module in ("parquet", "parquet_pages"):
        monkeypatch.setattr(f"wikitopics.crawler.texts.{module}.LARGEST_PAGE", 40 << 20)
    made = pa.table({"text": ["one"] * 50 + ["x" * (41 << 20)] + ["three"] * 50})
    path = write(tmp_path / "c.parquet", made, group=50, compression="zstd", use_dictionary=False)
    found, told = pages(path)
    assert len(found) == 51
    assert "row group 1: a page of over 40 MB from row 0 on" in told[0]


IN_LITTLE_MEMORY = """
import resource, sys
import pyarrow.parquet
from tests.crawler.parquet import rows_of
rows = rows_of(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
number = sum(1 for page in rows.pages(print))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(number, (after - before) >> 10)
"""


AS_A_SOURCE = """
import asyncio, resource, sys
import pyarrow.parquet
from tests.crawler.parquet import read, source_of
source = source_of(sys.argv[1], held_out=0, resuming=True)
start = {**asyncio.run(source_of(sys.argv[1], held_out=0).open()).start}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
async def number():
    await source.open()
    jobs = [make async for stretch in source.batches(start) for make in stretch.jobs]
    rows = [(await make()).articles for make in jobs]
    await source.close()
    return sum(rows)
number = asyncio.run(number())
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(number, (after - before) >> 10)
"""


def megabytes_of(path, program=IN_LITTLE_MEMORY):
    """(documents, megabytes) that reading a file takes."""
    run = subprocess.run(
        [sys.executable, "-c", program, path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    number, megabytes = run.stdout.split()[-2:]
    return int(number), int(megabytes)


def test_one_huge_row_group_is_read_in_little_memory(tmp_path):
    schema = pa.schema({"text": pa.string()})
    path = tmp_path / "a.parquet"
    text = "A river of water and more words than that. " * 70
    made = pa.table({"text": [f"{number} {text}" for number in range(100_000)]}, schema)
    write(path, made, group=100_000, compression="zstd", use_dictionary=False)
    assert made.nbytes > 280 << 20
    del made
    number, megabytes = megabytes_of(str(path))
    assert number == 100_000
    assert megabytes < 60


def test_a_dictionary_bomb_takes_little_memory(tmp_path):
    """20,000 rows of 5 MB each, in a file of some kilobytes."""
    value = "river of water " * (5 << 20 >> 4)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), [value])
    path = write(
        tmp_path / "a.parquet",
        pa.table({"text": column}),
        group=20_000,
        compression="zstd",
        dictionary_pagesize_limit=64 << 20,
    )
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    rows = rows_of(path)
    for number, _ in enumerate(rows.batches(rows.groups[0])):
        if number == 20:
            break
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 << 20


def test_so_does_a_step_of_large_texts(tmp_path):
    """A step has 32 rows, here of 20 MB each."""
    value = "river of water " * (20 << 20 >> 4)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 40, pa.int32()), [value])
    path = write(
        tmp_path / "a.parquet",
        pa.table({"text": column}),
        compression="zstd",
        dictionary_pagesize_limit=64 << 20,
    )
    number, megabytes = megabytes_of(path, AS_A_SOURCE)
    assert number == 40
    assert megabytes < 250


def test_a_session_goes_on_that_has_an_option_for_plain_texts(tmp_path):
    path = write(tmp_path / "a.parquet", table(range(3)))
    for option in (LINES, NO_HEADER):
        asked = Asked({TEXTS.name: (path,), option.name: True})
        identity = Texts().identity(asked)
        with pytest.raises(BadSource, match=f"{option.flag} is for"):
            Texts().open(identity, asked)
        Texts().open(identity, replace(asked, resuming=True))


def test_kinds_of_files_are_not_mixed(tmp_path):
    path = write(tmp_path / "a.parquet", table(range(3)))
    (tmp_path / "b.jsonl").write_text("{}")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "c.txt").write_text("text")
    assert are_parquet([path])
    assert not are_parquet([str(folder)])
    with pytest.raises(BadSource, match="cannot be mixed"):
        are_parquet([path, str(tmp_path / "b.jsonl")])
    write(folder / "d.parquet", table(range(3, 6)))
    with pytest.raises(BadSource, match=r"this folder has .parquet and .txt files"):
        are_parquet([str(folder)])
    (folder / "c.txt").unlink()
    (folder / "_SUCCESS").write_text("")
    (folder / "part=1").mkdir()
    write(folder / "part=1" / "a.parquet", table(range(6, 9)))
    assert are_parquet([str(folder), path])
    assert texts(str(folder)) == [f"text number {n} of a river" for n in (3, 4, 5, 6, 7, 8)]
    assert isinstance(pages(path)[0][0], Page)
    for named in (path, str(folder), "https://host.org/a.parquet?download=true"):
        assert Texts().division({TEXTS.name: [named]}) == "Each row of a table is a document"
