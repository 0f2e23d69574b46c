"""Dumps that are not quite XML, or do not unpack: what is lost, what is not, and what is said of
it."""

import bz2
import gzip
import lzma
import random

import pytest
import zstandard

from tests.crawler.dumps import (
    FOOT,
    HEAD,
    WRAPPINGS,
    collect,
    dump_source,
    ids,
    multistream,
    page,
    read_whole,
    skips,
    write,
)
from wikitopics.crawler.dumps.containers import HEAD as HEAD_BYTES
from wikitopics.crawler.dumps.containers import HeldFile, LocalFile
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.page import Page, SourceInfo

INFO = SourceInfo("", None, language="en")
PAGES = [page(number).encode() for number in range(1, 61)]
START = HEAD.encode()
END = FOOT.encode()


def with_text(text):
    """A page, number 99, with this text in bytes, not escaped."""
    return page(99, "TEXT").encode().replace(b"TEXT", text)


def in_the_middle(data, before=10):
    return b"".join([START, *PAGES[:before], data, *PAGES[before:], END])


COSTS_ITS_PAGE = {
    "control character": b"a \x08 b",
    "NUL": b"a \x00 b",
    "reference to a control character": b"a &#8; b",
    "reference to no character": b"a &#xFFFE; b",
    "reference to a surrogate": b"a &#xD83D;&#xDC08; b",
    "entity": b"a &nbsp; b",
    "ampersand": b"A & B",
    "less": b"1 < 2",
    "tag that never ends": b"a <br> b",
    "surrogate": "a \ud83d b".encode("utf-8", "surrogatepass"),
    "Latin-1": "café".encode("latin-1"),
    "half a character": "é".encode()[:1],
    "too deep": b"<x>" * 100,
}
COSTS_NO_PAGE = {
    "PHP error": b"<br />\n<b>Fatal error</b>: memory in <b>/var/x.php</b> on line <b>5</b><br />\n",
    "PHP": b"<?php echo 1; never_closed(",
    "HTML": b"<html><body>504 Gateway Time-out<hr></body></html>\n",
    "whole HTML": b"<!DOCTYPE html><html><body><p>504</body></html>\n",
    "comment": b"<!-- never closed",
    "CDATA": b"<![CDATA[ never closed",
    "quotes": b'<x a="never closed',
    "noise": random.Random(1).randbytes(3000),
    "header": START,
    "end and header": END + START,
    "end and declaration": END + b"\n<?xml version='1.0'?>\n" + START,
    "end": END,
    "end of a page": b"</revision></page>",
    "end and HTML": END + b"<html>",
    "declaration": b"<?xml version='1.0' encoding='latin-1'?>" + START,
    "text that never ends": b"y" * 200_000,
}
MISSING = {
    "page cut in its title": PAGES[10][:20],
    "page cut in its text": PAGES[10][:-60],
    "page cut in a tag": PAGES[10][: PAGES[10].index(b"<revision") + 4],
    "page cut in a character": with_text("é".encode())[:-55],
}


async def in_order(tmp_path, data, name="d.xml"):
    batches, source = await read_whole(tmp_path / name, data)
    return batches, [error.text for error in source.activity.errors]


def in_parts(tmp_path, data, size, name="p.xml", info=INFO):
    """(ids, pages skipped, what is said) of all parts of a file."""
    file = LocalFile(write(tmp_path / name, data))
    found = []
    skipped = []
    told = []
    for start in range(0, file.size, size):
        held = HeldFile(
            file.name,
            file.size,
            file.read(0, HEAD_BYTES),
            start,
            file.read(start, file.size),
        )
        try:
            for article in DumpPart(held, min(start + size, file.size)).pages(info):
                if isinstance(article, Page):
                    found.append(article.page_id)
                else:
                    skipped.append(article)
        except CutOff as error:
            told.append(str(error))
    return found, skipped, told


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("kind", COSTS_ITS_PAGE)
async def test_a_bad_byte_costs_the_page_it_is_in(tmp_path, kind, size):
    data = in_the_middle(with_text(COSTS_ITS_PAGE[kind]))
    batches, told = await in_order(tmp_path, data)
    assert (ids(batches), skips(batches)) == (list(range(1, 61)), {"damaged": 1})
    assert len(told) == 1
    assert told[0].endswith("; 1 page is lost")
    found, skipped, told = in_parts(tmp_path, data, size)
    assert (found, skipped) == (list(range(1, 61)), ["damaged"])
    assert len(told) == 1, "only by the part that has the page"
    assert told[0].endswith("; 1 page is lost")


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("kind", COSTS_NO_PAGE)
async def test_what_is_between_pages_costs_none(tmp_path, kind, size):
    data = in_the_middle(COSTS_NO_PAGE[kind])
    batches, told = await in_order(tmp_path, data)
    assert (ids(batches), skips(batches)) == (list(range(1, 61)), {})
    assert all(line.endswith("; no page is lost") for line in told)
    found, skipped, _ = in_parts(tmp_path, data, size)
    assert (found, skipped) == (list(range(1, 61)), [])


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("kind", MISSING)
async def test_a_page_that_is_cut_is_lost_alone(tmp_path, kind, size):
    data = b"".join([START, *PAGES[:10], MISSING[kind], *PAGES[11:], END])
    others = [number for number in range(1, 61) if number != 11]
    batches, told = await in_order(tmp_path, data)
    assert (ids(batches), skips(batches)) == (others, {"damaged": 1})
    assert [line.rpartition("; ")[2] for line in told] == ["1 page is lost"]
    found, skipped, _ = in_parts(tmp_path, data, size)
    assert (found, skipped) == (others, ["damaged"])


async def test_many_faults_are_told_in_one_line(tmp_path):
    bad = {3, 17, 18, 44}
    pages = list(PAGES)
    for number in bad:
        pages[number - 1] = with_text(b"\x01")
    talk = page(98, "TEXT", ns=1).encode().replace(b"TEXT", b"\x01")
    batches, told = await in_order(tmp_path, b"".join([START, *pages, talk, END]))
    assert ids(batches) == [number for number in range(1, 61) if number not in bad]
    assert skips(batches) == {"damaged": 4}, "a talk page is no article"
    assert len(told) == 1
    assert told[0].endswith("4 pages are lost")


async def test_more_cut_pages_than_a_parser_could_keep(tmp_path):
    cut = b"<page><title>x</title><revision>" * 5000
    batches, _ = await in_order(tmp_path, in_the_middle(cut))
    assert (ids(batches), skips(batches)) == (list(range(1, 61)), {"damaged": 5000})


async def test_faults_without_end_end_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.xml._MOST_FAULTS", 20)
    batches, told = await in_order(tmp_path, in_the_middle(b"<page>&" * 30))
    assert ids(batches) == list(range(1, 11))
    assert "in over 20 places; everything after the last complete page is left out" in told[0]


WRITTEN = {
    "blank lines first": lambda data: b"\n\n" + data,
    "blank lines and a declaration": lambda data: b"\n<?xml version='1.0'?>\n" + data,
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "a warning first": lambda data: b"<br />\n<b>Warning</b>: x() in <b>y</b><br />\n" + data,
    "prefix": lambda data: (
        data.replace(b"<mediawiki xmlns=", b"<mw:mediawiki xmlns:mw=")
        .replace(b"</mediawiki>", b"</mw:mediawiki>")
        .replace(b"<page>", b"<mw:page>")
        .replace(b"</page>", b"</mw:page>")
    ),
    "prefixes": lambda data: (
        data.replace(b"</", b"</mw:")
        .replace(b"<", b"<mw:")
        .replace(b"<mw:/mw:", b"</mw:")
        .replace(b"xmlns=", b"xmlns:mw=")
    ),
    "capitals": lambda data: data.replace(b"<page>", b"<PAGE>").replace(b"</page>", b"</PAGE>"),
    "text in CDATA": lambda data: data.replace(
        b'preserve">Article', b'preserve"><![CDATA[Article'
    ).replace(b"</text>", b"]]></text>"),
}


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("kind", WRITTEN)
async def test_dumps_that_others_write_are_read_as_a_whole(tmp_path, kind, size):
    data = WRITTEN[kind](in_the_middle(b""))
    batches, told = await in_order(tmp_path, data)
    assert (ids(batches), skips(batches), told) == (list(range(1, 61)), {}, [])
    assert in_parts(tmp_path, data, size) == (list(range(1, 61)), [], [])


async def test_a_bad_byte_in_the_header_costs_no_page(tmp_path):
    data = in_the_middle(b"").replace(b"<sitename>Test", b"<sitename>Caf\xe9", 1)
    batches, _ = await in_order(tmp_path, data)
    assert ids(batches) == list(range(1, 61))


async def test_a_dump_without_its_end_says_so(tmp_path):
    batches, told = await in_order(tmp_path, b"".join([START, *PAGES]))
    assert ids(batches) == list(range(1, 61))
    assert told[0].endswith("cut off; everything after the last complete page is left out")
    batches, told = await in_order(
        tmp_path, b"".join([START, *PAGES[:30], PAGES[30][:90]]), "e.xml"
    )
    assert (ids(batches), skips(batches)) == (list(range(1, 31)), {"damaged": 1})
    assert told[0].endswith("cut off; everything after the last complete page is left out")


@pytest.mark.parametrize("name", WRAPPINGS)
async def test_a_bad_byte_costs_its_page_in_every_container_and_after_every_stop(tmp_path, name):
    data = in_the_middle(with_text(b"\x08") + MISSING["page cut in its text"])
    path = write(tmp_path / name, WRAPPINGS[name](data))
    _, whole = await collect(dump_source([path], held_out=20))
    assert sorted(ids(whole)) == list(range(1, 61))
    assert skips(whole) == {"damaged": 2}
    for done in range(1, len(whole) + 1):
        _, rest = await collect(
            dump_source([path], held_out=20, resuming=True), whole[done - 1].position
        )
        assert ids(whole[:done]) + ids(rest) == ids(whole)
        assert skips(whole[:done]) + skips(rest) == skips(whole)


@pytest.mark.parametrize(
    "compress", [bz2.compress, gzip.compress, lzma.compress, zstandard.compress]
)
async def test_a_stream_that_does_not_unpack_is_lost_alone(tmp_path, compress):
    data = bytearray(multistream(range(1, 400), compress))
    middle = len(data) // 2
    data[middle : middle + 20] = bytes(20)
    batches, told = await in_order(tmp_path, bytes(data), "d.dump")
    assert len(told) == 1
    assert "lost" in told[0]
    missing = set(range(1, 400)) - set(ids(batches))
    assert 0 < len(missing) <= 14
    assert max(missing) - min(missing) < 14
    assert ids(batches) == sorted(ids(batches)), "each once"
    found, _, told = in_parts(tmp_path, bytes(data), 500)
    assert set(found) == set(ids(batches))
    assert len(told) in (1, 2)
    found, _, told = in_parts(tmp_path, bytes(data), 1 << 20)
    assert (set(found), len(told)) == (set(ids(batches)), 1)


@pytest.mark.parametrize("before", [0, 8, 14])
async def test_damage_between_two_streams_of_bzip2_is_told(tmp_path, before):
    """Of the one that follows, nothing is recognised: neither its header nor its block."""
    data = bytearray(multistream(range(1, 200)))
    middle = data.index(b"BZh9", len(data) // 2)
    data[middle - before : middle + 12] = bytes(before + 12)
    batches, told = await in_order(tmp_path, bytes(data), "d.bz2")
    missing = set(range(1, 200)) - set(ids(batches))
    assert 7 <= len(missing) <= 14
    assert len(told) == 1
    assert "lost" in told[0]
    for size in (500, 1 << 20):
        found, _, told = in_parts(tmp_path, bytes(data), size)
        assert (set(found), len(told)) == (set(ids(batches)), 1)
        assert "lost" in told[0]


async def test_no_page_is_made_of_two_that_damage_has_cut(tmp_path):
    right = {number: f"{number} " + "river " * 200 for number in range(1, 30)}
    pages = [page(number, text) for number, text in right.items()]
    whole = "".join([HEAD, *pages, FOOT]).encode()
    pieces = [bz2.compress(whole[start : start + 1500]) for start in range(0, len(whole), 1500)]
    for number in range(3, 20):
        data = bytearray(b"".join(pieces))
        middle = sum(map(len, pieces[:number]))
        data[middle : middle + 12] = bytes(12)
        batches, told = await in_order(tmp_path, bytes(data), f"{number}.bz2")
        read = {page.page_id: page.text for batch in batches for page in batch.pages}
        assert 20 < len(read) < 29
        assert read.items() <= right.items()
        assert len(told) == 1
        found, _, told = in_parts(tmp_path, bytes(data), 500)
        assert found == list(read)
        assert len(told) in (1, 2)


async def test_a_block_of_a_single_stream_that_does_not_unpack_is_lost_alone(tmp_path):
    noise = random.Random(3)
    pages = [page(number, noise.randbytes(20_000).hex()).encode() for number in range(1, 61)]
    data = bytearray(bz2.compress(b"".join([START, *pages, END]), 1))
    middle = len(data) // 2
    data[middle : middle + 20] = bytes(20)
    batches, told = await in_order(tmp_path, bytes(data), "d.bz2")
    missing = sorted(set(range(1, 61)) - set(ids(batches)))
    assert 0 < len(missing) <= 6
    assert missing == list(range(missing[0], missing[-1] + 1))
    assert len(told) == 1
    found, _, _ = in_parts(tmp_path, bytes(data), 100_000)
    assert found == ids(batches)


async def test_a_hole_in_a_bzip2_file_is_no_end_of_it(tmp_path):
    streams = multistream(range(1, 200), every=5)
    middle = streams.index(b"BZh9", len(streams) // 2)
    data = streams[:middle] + bytes(3 << 20) + streams[middle:]
    found, _, _ = in_parts(tmp_path, data, 64 << 20)
    assert found == list(range(1, 200))


@pytest.mark.parametrize("data", [b"<html><body>404 mediawiki</body></html>", b"<page>x</page>"])
def test_html_and_a_mere_page_are_no_dumps(tmp_path, data):
    path = write(tmp_path / "d.xml", data)
    with pytest.raises(BadSource, match="not a MediaWiki dump: it begins with"):
        next(dump_source([path]).files.read())


def test_after_a_gap_places_are_those_of_the_input():
    before = PAGES[0] + b"<bad" * 20
    with DumpReader("d.xml", INFO, continued=True) as reader:
        entries = [*reader.feed(before), *reader.skip_gap("damaged"), *reader.feed(PAGES[1])]
    assert [entry.start for entry in entries] == [0, len(before)]
