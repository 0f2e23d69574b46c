"""Dumps that are cut, damaged, hostile or none: one clear line, and what comes before is kept."""

import bz2
import contextlib
import functools
import gzip
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawler.dumps import (
    FOOT,
    HEAD,
    WRAPPINGS,
    collect,
    dump,
    dump_source,
    ids,
    multistream,
    page,
    read_whole,
    skips,
    write,
)
from wikitopics.crawler import file_source
from wikitopics.crawler.dumps import xml
from wikitopics.crawler.dumps.xml import DumpFiles
from wikitopics.crawler.file_source import page_hash, scan
from wikitopics.crawler.source import BadPosition, BadSource, Page
from wikitopics.crawler.system import Background


@functools.cache
def long_dump(name):
    """A dump of 2500 pages, of more than one of bzip2's blocks."""
    texts = [os.urandom(150).hex() for _ in range(2500)]
    whole = (HEAD + "".join(page(i + 1, text=text) for i, text in enumerate(texts)) + FOOT).encode()
    return WRAPPINGS[name](whole)


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2", "dump.xml.gz", "dump.xml.xz", "dump.xml.zst"])
@pytest.mark.parametrize("share", [0.3, 0.999])
async def test_a_dump_cut_in_mid_page_ends_with_a_message(tmp_path, name, share):
    packed = long_dump(name)
    begun = packed[: int(len(packed) * share)]
    if name == "dump.xml.bz2" and share == 0.3:
        # bzip2 gives nothing of a block that is not whole.
        with pytest.raises(BadSource, match="before its first page"):
            await read_whole(tmp_path / name, begun)
        return
    batches, source = await read_whole(tmp_path / name, begun)
    found = ids(batches)
    assert found == list(range(1, len(found) + 1))
    assert 0 < len(found) <= 2500
    [error] = source.activity.errors
    assert name in error.text
    assert "left out" in error.text


async def test_a_damaged_dump_gives_what_comes_before(tmp_path):
    damaged = bytearray(multistream(range(1, 400)))
    damaged[len(damaged) // 2] ^= 0xFF
    batches, source = await read_whole(tmp_path / "d.bz2", bytes(damaged))
    assert 100 < len(ids(batches)) < 300
    assert "damaged" in source.activity.errors[0].text
    broken = dump(range(1, 90)).replace(b"<title>Title 60</title>", b"<title>Title 60</tit>")
    batches, source = await read_whole(tmp_path / "d.xml", broken)
    assert ids(batches) == list(range(1, 60))
    assert "broken XML" in source.activity.errors[0].text


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


@pytest.mark.parametrize("name", WRAPPINGS)
@pytest.mark.parametrize("size", [3, 7, 60])
async def test_a_dump_cut_before_its_first_page_is_none(tmp_path, name, size):
    with pytest.raises(BadSource, match=name):
        await read_whole(tmp_path / name, WRAPPINGS[name](dump(range(1, 50)))[:size])


@pytest.mark.parametrize(
    "encoding", ["rot13", "idna", "utf-7", "unicode_escape", "punycode", "hex", "utf-16", "x" * 5000]
)
@pytest.mark.parametrize("resuming", [False, True])
async def test_only_utf_8_is_a_dump(tmp_path, encoding, resuming):
    data = f"<?xml version='1.0' encoding='{encoding}'?>".encode() + dump(range(1, 9))
    with pytest.raises(BadSource, match="not UTF-8") as caught:
        await read_whole(tmp_path / "d.xml", data, resuming=resuming)
    assert len(str(caught.value)) < 300
    fine = b"<?xml version='1.0' encoding='utf-8'?>" + dump(range(1, 9))
    batches, _ = await read_whole(tmp_path / "d.xml", fine)
    assert len(ids(batches)) == 8


@pytest.mark.parametrize(
    "hostile",
    [
        "<x>" * 100,
        "".join(f"<x{i}/>" for i in range(2000)),
        "<" + "x" * 1000 + "/>",
        "<x " + " ".join(f"a{i}='1'" for i in range(2000)) + "/>",
        "<x a='" + "y" * (4 << 20),
        "<!--" + "y" * (4 << 20),
        "<?y " + "y" * (4 << 20),
        "y" * (4 << 20),
    ],
    ids=["nested", "kinds", "long name", "attributes", "attribute", "comment", "instruction", "text"],
)
@pytest.mark.parametrize("at_the_start", [True, False])
async def test_xml_that_grows_without_bound_ends_the_reading(tmp_path, monkeypatch, hostile, at_the_start):
    """What the parser would have to keep is bounded, and so is reading on without a page."""
    monkeypatch.setattr(xml, "_MOST_SILENCE", 1 << 20)
    begin = HEAD if at_the_start else HEAD + page(1) + page(2)
    path, data = tmp_path / "d.xml.gz", gzip.compress((begin + hostile + page(3) + FOOT).encode(), 1)
    if at_the_start:
        with pytest.raises(BadSource, match="not a MediaWiki dump"):
            await read_whole(path, data)
    else:
        batches, source = await read_whole(path, data)
        assert ids(batches) == [1, 2]
        assert "broken XML" in source.activity.errors[0].text


async def test_pages_beyond_mediawikis_own_bounds_are_skipped(tmp_path):
    large = [page(1, text="x" * (2 << 20)), page(2, text="x" * (2 << 20) + "y"), page(3, text="€" * 700_000)]
    titles = ["é" * 127 + "x", "é" * 128, "x" * 3_000_000]
    named = [page(4 + i).replace(f"Title {4 + i}", title) for i, title in enumerate(titles)]
    data = (HEAD + "".join(large + named) + page(7) + FOOT).encode()
    batches, _ = await read_whole(tmp_path / "d.xml", data)
    assert ids(batches) == [1, 4, 7]
    assert skips(batches) == {"too large": 4}


async def test_large_pages_come_in_small_batches_and_are_not_all_kept(tmp_path, monkeypatch):
    """Those held out are read again where their texts would be too much to keep."""
    monkeypatch.setattr(file_source, "_MOST_KEPT", 100_000)
    monkeypatch.setattr(file_source, "BATCH_CHARACTERS", 100_000)
    texts = {n: os.urandom(20_000).hex() for n in range(1, 61)}
    whole = (HEAD + "".join(page(n, text=text) for n, text in texts.items()) + FOOT).encode()
    for name in ("d.xml", "d.xml.gz"):
        path = write(tmp_path / name, WRAPPINGS["dump" + name[1:]](whole))
        kept = [one.text for one in scan(DumpFiles([path]), 30)[1]]
        assert 0 < sum(map(len, filter(None, kept))) <= 100_000
        assert kept.count(None) > 20
        _, batches = await collect(dump_source([path], held_out=10))
        found = [p for batch in batches for p in batch.pages]
        assert {p.page_id: p.text for p in found} == texts
        assert len(found) == 60
        assert [p.page_id for p in found][:30] == sorted(texts, key=page_hash)[:30]
        assert max(len(batch.pages) for batch in batches) == 3


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"hello", "not a MediaWiki dump"),
        (b"<html><body>404</body></html>", "begins with <html>"),
        (b"\x00" * 5000, "not a MediaWiki dump"),
        (random.Random(1).randbytes(2000), "not a MediaWiki dump"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(99), "7z is not supported"),
        (bz2.compress(b"no xml"), "not a MediaWiki dump"),
        ((BOMB + HEAD + page(1, "x").replace(">x<", ">&b;<") + FOOT).encode(), "declares a document type"),
        (f'<!DOCTYPE x SYSTEM "file:///etc/passwd">{HEAD}&x;</mediawiki>'.encode(), "not a MediaWiki dump"),
    ],
)
async def test_what_is_no_dump_is_refused_in_one_line(tmp_path, data, reason):
    with pytest.raises(BadSource, match=reason) as caught:
        await read_whole(tmp_path / "thing.xml", data, held_out=None)
    assert "\n" not in str(caught.value)
    assert "thing.xml" in str(caught.value)


async def test_files_that_are_not_there_or_have_changed(tmp_path):
    with pytest.raises(BadSource, match="no such file"):
        dump_source([str(tmp_path / "absent.xml")])
    with pytest.raises(BadSource, match="a folder"):
        dump_source([str(tmp_path)])
    path = write(tmp_path / "d.xml", dump(range(1, 200)))
    _, batches = await collect(dump_source([path], held_out=0), stop_after=1)
    write(tmp_path / "d.xml", dump(range(1, 100)))
    with pytest.raises(BadSource, match="has changed"):
        await collect(dump_source([path], held_out=0, resuming=True), batches[0].position)


@pytest.mark.parametrize(
    "wrong",
    [{"offset": "x"}, {"offset": None}, {"skip": -1}, {"file": 1}, {"read": 1.5}, {"first": 2**70}],
    ids=str,
)
async def test_a_damaged_position_is_one_line(tmp_path, wrong):
    path = write(tmp_path / "d.xml", dump(range(1, 200)))
    _, batches = await collect(dump_source([path], held_out=0), stop_after=1)
    with pytest.raises(BadPosition) as caught:
        await collect(dump_source([path], held_out=0, resuming=True), {**batches[0].position, **wrong})
    assert caught.value.exit_code == 5


async def test_an_error_in_the_background_reaches_the_reader():
    def items():
        yield 1
        raise OSError("gone")

    reading = Background(items).run()
    assert await anext(reading) == 1
    with pytest.raises(OSError, match="gone"):
        await anext(reading)


@given(st.binary(max_size=3000), st.integers(0, 4000), st.sampled_from(list(WRAPPINGS.values())))
def test_arbitrary_damage_gives_articles_or_one_clear_error(tmp_path_factory, noise, at, wrap):
    data = wrap(dump(range(1, 30)))
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(data[:at] + noise + data[at + len(noise) // 2 :])
    found = []
    with contextlib.suppress(BadSource):
        for page, _ in DumpFiles([str(path)]).read():
            found += [page.page_id] if isinstance(page, Page) else []
    assert len(found) <= 60
