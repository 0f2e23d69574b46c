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
    INFO,
    WRAPPINGS,
    collect,
    dump,
    dump_of,
    dump_source,
    ids,
    in_parts,
    in_pieces,
    multistream,
    page,
    pages_of,
    read_whole,
    skips,
    write,
)
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource

NUMBERS = list(range(1, 61))
PAGES = [page(number).encode() for number in NUMBERS]
START = HEAD.encode()
END = FOOT.encode()


def with_text(text, namespace=0):
    """A page, number 99, with this text in bytes, not escaped."""
    return page(99, "TEXT", ns=namespace).encode().replace(b"TEXT", text)


def in_the_middle(data):
    """The dump of PAGES with these bytes behind the tenth page."""
    return b"".join([START, *PAGES[:10], data, *PAGES[10:], END])


def blank_out(data, start, length):
    """The bytes with zeros in place of so many of them."""
    return data[:start] + bytes(length) + data[start + length :]


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
PAGE_11 = PAGES[10]
PAGE_11_CUT = {
    "in its title": PAGE_11[:20],
    "in its text": PAGE_11[:-60],
    "in a tag": PAGE_11[: PAGE_11.index(b"<revision") + 4],
    "in a character": with_text("é".encode())[:-55],
}
CUT_OFF = "cut off; everything after the last complete page is left out"


async def in_order(tmp_path, data, name="d.xml"):
    """(batches, messages) of a dump that is read in its order."""
    batches, source = await read_whole(tmp_path / name, data)
    return batches, [error.text for error in source.activity.errors]


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("kind", COSTS_ITS_PAGE)
async def test_a_bad_byte_costs_the_page_it_is_in(tmp_path, kind, size):
    data = in_the_middle(with_text(COSTS_ITS_PAGE[kind]))
    batches, messages = await in_order(tmp_path, data)
    assert ids(batches) == NUMBERS
    assert skips(batches) == {"damaged": 1}
    (message,) = messages
    assert message.endswith("; 1 page is lost")
    found, skipped, messages = in_parts(tmp_path, data, size)
    assert found == NUMBERS
    assert skipped == ["damaged"]
    assert len(messages) == 1, "only by the part that has the page"
    assert messages[0].endswith("; 1 page is lost")


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("kind", COSTS_NO_PAGE)
async def test_what_is_between_pages_costs_none(tmp_path, kind, size):
    data = in_the_middle(COSTS_NO_PAGE[kind])
    batches, messages = await in_order(tmp_path, data)
    assert ids(batches) == NUMBERS
    assert skips(batches) == {}
    assert all(message.endswith("; no page is lost") for message in messages)
    found, skipped, _ = in_parts(tmp_path, data, size)
    assert found == NUMBERS
    assert skipped == []


@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("place", PAGE_11_CUT)
async def test_a_page_that_is_cut_is_lost_alone(tmp_path, place, size):
    data = b"".join([START, *PAGES[:10], PAGE_11_CUT[place], *PAGES[11:], END])
    others = [number for number in NUMBERS if number != 11]
    batches, messages = await in_order(tmp_path, data)
    assert ids(batches) == others
    assert skips(batches) == {"damaged": 1}
    (message,) = messages
    assert message.endswith("; 1 page is lost")
    found, skipped, _ = in_parts(tmp_path, data, size)
    assert found == others
    assert skipped == ["damaged"]


async def test_many_faults_are_told_in_one_line(tmp_path):
    good = [number for number in NUMBERS if number not in (3, 17, 18, 44)]
    damaged = with_text(b"\x01")
    damaged_talk = with_text(b"\x01", namespace=1)
    pages = [page(number).encode() if number in good else damaged for number in NUMBERS]
    batches, messages = await in_order(tmp_path, b"".join([START, *pages, damaged_talk, END]))
    assert ids(batches) == good
    assert skips(batches) == {"damaged": 4}, "a talk page is no article"
    (message,) = messages
    assert message.endswith("4 pages are lost")


async def test_more_cut_pages_than_a_parser_could_keep(tmp_path):
    cut = b"<page><title>x</title><revision>" * 5000
    batches, _ = await in_order(tmp_path, in_the_middle(cut))
    assert ids(batches) == NUMBERS
    assert skips(batches) == {"damaged": 5000}


async def test_too_many_faults_end_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.xml._MOST_FAULTS", 20)
    batches, messages = await in_order(tmp_path, in_the_middle(b"<page>&" * 30))
    assert ids(batches) == NUMBERS[:10]
    assert "in over 20 places; everything after the last complete page is left out" in messages[0]


AS_OTHERS_WRITE = {
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
@pytest.mark.parametrize("kind", AS_OTHERS_WRITE)
async def test_dumps_that_others_write_are_read_as_a_whole(tmp_path, kind, size):
    data = AS_OTHERS_WRITE[kind](dump(NUMBERS))
    batches, messages = await in_order(tmp_path, data)
    assert ids(batches) == NUMBERS
    assert skips(batches) == {}
    assert messages == []
    found, skipped, messages = in_parts(tmp_path, data, size)
    assert found == NUMBERS
    assert skipped == []
    assert messages == []


async def test_a_bad_byte_in_the_header_costs_no_page(tmp_path):
    data = dump(NUMBERS).replace(b"<sitename>Test", b"<sitename>Caf\xe9", 1)
    batches, _ = await in_order(tmp_path, data)
    assert ids(batches) == NUMBERS


async def test_a_dump_without_its_end_says_so(tmp_path):
    without_end = b"".join([START, *PAGES])
    batches, messages = await in_order(tmp_path, without_end)
    assert ids(batches) == NUMBERS
    assert messages[0].endswith(CUT_OFF)
    cut_in_a_page = b"".join([START, *PAGES[:30], PAGES[30][:90]])
    batches, messages = await in_order(tmp_path, cut_in_a_page, "e.xml")
    assert ids(batches) == NUMBERS[:30]
    assert skips(batches) == {"damaged": 1}
    assert messages[0].endswith(CUT_OFF)


@pytest.mark.parametrize("name", WRAPPINGS)
async def test_a_bad_byte_costs_its_page_in_every_container_and_after_every_stop(tmp_path, name):
    data = in_the_middle(with_text(b"\x08") + PAGE_11_CUT["in its text"])
    path = write(tmp_path / name, WRAPPINGS[name](data))
    _, whole = await collect(dump_source([path], held_out=20))
    assert sorted(ids(whole)) == NUMBERS
    assert skips(whole) == {"damaged": 2}
    for number, batch in enumerate(whole, 1):
        done = whole[:number]
        resumed = dump_source([path], held_out=20, resuming=True)
        _, rest = await collect(resumed, batch.position)
        assert ids(done) + ids(rest) == ids(whole)
        assert skips(done) + skips(rest) == skips(whole)


@pytest.mark.parametrize(
    "compress", [bz2.compress, gzip.compress, lzma.compress, zstandard.compress]
)
async def test_a_stream_that_does_not_unpack_is_lost_alone(tmp_path, compress):
    numbers = range(1, 400)
    two_streams = 14  # pages
    whole = multistream(numbers, compress)
    data = blank_out(whole, len(whole) // 2, 20)
    batches, messages = await in_order(tmp_path, data, "d.dump")
    (message,) = messages
    assert "lost" in message
    found = set(ids(batches))
    missing = set(numbers) - found
    assert 0 < len(missing) <= two_streams
    assert max(missing) - min(missing) < two_streams
    assert ids(batches) == sorted(ids(batches)), "each once"
    found_in_parts, _, messages = in_parts(tmp_path, data, 500)
    assert set(found_in_parts) == found
    assert len(messages) in (1, 2)
    found_in_one_part, _, messages = in_parts(tmp_path, data, 1 << 20)
    assert set(found_in_one_part) == found
    assert len(messages) == 1


@pytest.mark.parametrize("before", [0, 8, 14])
async def test_damage_between_two_streams_of_bzip2_is_told(tmp_path, before):
    """Nothing of the stream that follows is recognised: neither its header nor its block."""
    numbers = range(1, 200)
    whole = multistream(numbers)
    begin_of_stream = whole.index(b"BZh9", len(whole) // 2)
    data = blank_out(whole, begin_of_stream - before, before + 12)
    batches, messages = await in_order(tmp_path, data, "d.bz2")
    found = set(ids(batches))
    missing = set(numbers) - found
    assert 7 <= len(missing) <= 14, "the pages of one or two streams"
    (message,) = messages
    assert "lost" in message
    for size in (500, 1 << 20):
        found_in_parts, _, messages = in_parts(tmp_path, data, size)
        assert set(found_in_parts) == found
        (message,) = messages
        assert "lost" in message


async def test_no_page_is_made_of_two_that_damage_has_cut(tmp_path):
    texts = {number: f"{number} " + "river " * 200 for number in range(1, 30)}
    pages = [page(number, text) for number, text in texts.items()]
    streams = [bz2.compress(piece) for piece in in_pieces(dump_of(pages), 1500)]
    whole = b"".join(streams)
    for number in range(3, 20):
        begin_of_stream = len(b"".join(streams[:number]))
        data = blank_out(whole, begin_of_stream, 12)
        batches, messages = await in_order(tmp_path, data, f"{number}.bz2")
        found = {page.page_id: page.text for page in pages_of(batches)}
        assert 20 < len(found) < 29
        assert found.items() <= texts.items()
        assert len(messages) == 1
        found_in_parts, _, messages = in_parts(tmp_path, data, 500)
        assert found_in_parts == list(found)
        assert len(messages) in (1, 2)


async def test_a_block_of_a_single_stream_that_does_not_unpack_is_lost_alone(tmp_path):
    noise = random.Random(3)
    pages = [page(number, noise.randbytes(20_000).hex()) for number in NUMBERS]
    whole = bz2.compress(dump_of(pages), 1)
    data = blank_out(whole, len(whole) // 2, 20)
    batches, messages = await in_order(tmp_path, data, "d.bz2")
    found = ids(batches)
    missing = [number for number in NUMBERS if number not in found]
    assert 0 < len(missing) <= 6
    assert missing == list(range(missing[0], missing[-1] + 1)), "neighbours"
    assert len(messages) == 1
    found_in_parts, _, _ = in_parts(tmp_path, data, 100_000)
    assert found_in_parts == found


async def test_a_hole_in_a_bzip2_file_is_no_end_of_it(tmp_path):
    whole = multistream(range(1, 200), every=5)
    begin_of_stream = whole.index(b"BZh9", len(whole) // 2)
    hole = bytes(3 << 20)
    data = whole[:begin_of_stream] + hole + whole[begin_of_stream:]
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
