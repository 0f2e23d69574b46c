"""Dumps: every wrapping, order, resuming, what is an article; what damage costs, and what is said
of it."""

import asyncio
import bz2
import contextlib
import functools
import gzip
import io
import os
import random
import sys

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.crawler.dumps import (
    HEAD,
    WRAPPINGS,
    collect,
    dump,
    dump_of,
    dump_source,
    ids,
    multistream,
    page,
    pages_of,
    read_whole,
    skips,
    write,
)
from tests.real_text import CORPUS, needs_corpus
from wikitopics.crawler import file_source
from wikitopics.crawler.background import Background
from wikitopics.crawler.dumps import xml
from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadPosition, BadSource
from wikitopics.crawler.file_source import BATCH_PAGES, page_hash, scan
from wikitopics.crawler.page import Page


@pytest.mark.parametrize("name", WRAPPINGS)
async def test_every_wrapping_gives_the_same_articles(tmp_path, name):
    path = write(tmp_path / name, WRAPPINGS[name](dump(range(1, 400))))
    info, batches = await collect(dump_source([path]))
    assert info.name == name
    assert info.articles == 399
    assert info.file_names == ("Datei",)
    assert info.category_names == ("Kategorie",)
    assert sorted(ids(batches)) == list(range(1, 400))
    assert batches[-1].lap == 1.0
    pages_by_id = {page.page_id: page for page in pages_of(batches)}
    page_17 = pages_by_id[17]
    assert page_17.title == "Title 17"
    assert page_17.revision_id == 1017
    assert page_17.markup == "wikitext"
    assert page_17.text == "Article 17 & {{x}} <ref>r</ref> é語"


@pytest.mark.parametrize(("held_out", "n_first"), [(100, 120), (None, 60), (0, 0)])
async def test_the_held_out_come_first_and_the_rest_in_order(tmp_path, held_out, n_first):
    """By default a tenth of a small dump is held out, and some articles more than are held out
    come first."""
    data = bz2.compress(dump(range(1, 401)))
    batches, _ = await read_whole(tmp_path / "d.bz2", data, held_out=held_out)
    by_hash = sorted(range(1, 401), key=page_hash)
    first = by_hash[:n_first]
    rest = by_hash[n_first:]
    assert ids(batches) == first + sorted(rest)


async def test_pages_whose_id_is_no_number_of_a_page_are_skipped(tmp_path):
    numbers = [1, 10**20, 0, -5, 2**63, 2**63 - 2000, 2]
    batches, _ = await read_whole(tmp_path / "d.xml", dump(numbers))
    assert ids(batches) == [1, 2**63 - 2000, 2]
    assert skips(batches) == {"damaged": 4}


RESUMED = WRAPPINGS | {
    "multistream.bz2": lambda data: multistream(range(1, 300)),
    "multistream.gz": lambda data: multistream(range(1, 300), gzip.compress),
    "frames.zst": lambda data: multistream(range(1, 300), zstandard.compress),
    "pzstd.zst": lambda data: b"\x5f\x2a\x4d\x18\0\0\0\0" + zstandard.compress(data),
}


@pytest.mark.parametrize("name", RESUMED)
async def test_it_resumes_behind_any_batch(tmp_path, name):
    compressed = RESUMED[name](dump(range(1, 300)))
    paths = [
        write(tmp_path / f"1.{name}", compressed),
        write(tmp_path / "2.xml", dump(range(300, 420))),
    ]
    _, whole = await collect(dump_source(paths, held_out=60))
    assert sorted(ids(whole)) == list(range(1, 420))
    for number, batch in enumerate(whole, 1):
        done = whole[:number]
        resumed = dump_source(paths, held_out=60, resuming=True)
        _, rest = await collect(resumed, batch.position)
        assert ids(done) + ids(rest) == ids(whole)
        assert [batch.lap for batch in rest] == [batch.lap for batch in whole[number:]]


async def test_a_plain_dump_resumes_at_the_very_page(tmp_path):
    path = write(tmp_path / "d.xml", dump(range(1, 400)))
    _, whole = await collect(dump_source([path], held_out=0))
    before_last = whole[-2].position
    assert before_last["offset"] > os.path.getsize(path) / 2
    assert before_last["skip"] == 0


async def test_a_compressed_dump_resumes_without_reading_what_is_done(tmp_path):
    pages_a_stream = 7
    path = write(tmp_path / "d.bz2", multistream(range(1, 3000), every=pages_a_stream))
    _, whole = await collect(dump_source([path], held_out=0))
    before_last = whole[-2].position
    source = dump_source([path], held_out=0, resuming=True)
    _, rest = await collect(source, before_last)
    assert ids(rest) == ids(whole[-1:])
    assert before_last["offset"] > 0.8 * os.path.getsize(path)
    assert before_last["skip"] <= pages_a_stream
    # To know its format, the head of the file is read, which is nearly all of such a small one.
    assert source.files.bytes_read < 1.2 * os.path.getsize(path)


async def test_redirects_other_namespaces_and_pages_without_text_are_no_articles(tmp_path):
    hidden = page(9).replace('<text bytes="9"', '<text deleted="deleted" bytes="9"')
    pages = [
        page(1),
        page(2, extra='<redirect title="X" />'),
        page(3, ns=1),
        page(4, text="#REDIRECT [[X]]"),
        page(5, text="'''Five''' may mean:\n* this\n{{Disambiguation|geo}}"),
        page(7, text="  "),
        page(8, model="json", text="{}"),
        hidden,
        page(10).replace("<id>10</id>", "<id>ten</id>", 1),
        page(2**40),
    ]
    path = write(tmp_path / "d.xml", dump_of(pages))
    info, batches = await collect(dump_source([path], held_out=0))
    assert ids(batches) == [1, 2**40]
    assert skips(batches) == {
        "disambiguation": 1,
        "no text": 1,
        "no wikitext": 1,
        "deleted or hidden": 1,
        "damaged": 1,
    }
    assert info.articles == 2


@pytest.mark.parametrize(("language", "articles"), [("nl", [1, 3, 4]), ("en", [1, 2, 3, 4])])
async def test_the_dump_says_in_which_language_its_disambiguation_pages_are(
    tmp_path, language, articles
):
    only_a_template = "{{dp}}"  # in Dutch it marks a page as a disambiguation
    templates_in_a_sentence = "Around {{dp|Ceres}} and {{disambigneeded|Vesta}} it says so."
    texts = {2: only_a_template, 3: templates_in_a_sentence}
    head = HEAD.replace('xml:lang="de"', f'xml:lang="{language}"')
    data = multistream(range(1, 5), every=1, text=texts.get, head=head)
    path = write(tmp_path / "d.bz2", data)
    _, whole = await collect(dump_source([path], held_out=0))
    assert ids(whole) == articles
    # A second run begins in the middle of the file, where the language is no longer written.
    size_of_head = len(bz2.compress(head.encode()))
    behind_first = whole[-1].position | {"offset": size_of_head, "skip": 1, "read": 1}
    _, rest = await collect(dump_source([path], held_out=0, resuming=True), behind_first)
    assert ids(rest) == articles[1:]


def history(*revisions):
    """A dump of one page with these revisions: (id, time, text); 0 and "" for no id and no time."""
    parts = []
    for number, time, text in revisions:
        parts.append("<revision>")
        if number:
            parts.append(f"<id>{number}</id>")
        if time:
            parts.append(f"<timestamp>{time}</timestamp>")
        parts.append(f"<text>{text}</text></revision>")
    return dump_of([f"<page><title>T</title><ns>0</ns><id>1</id>{''.join(parts)}</page>"])


OLD = "2009-12-31T23:59:59Z"
NEW = "2010-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("revisions", "newest"),
    [
        ([(1, OLD, "old"), (2, NEW, "new")], (2, "new")),
        ([(2, NEW, "new"), (1, OLD, "old")], (2, "new")),
        ([(9, OLD, "imported"), (2, NEW, "new"), (10, OLD, "imported")], (2, "new")),
        ([(3, NEW, "one"), (12, NEW, "other"), (4, NEW, "third")], (12, "other")),
        ([(1, NEW, "new"), (7, "", "timeless")], (1, "new")),
        ([(3, "", "a"), (12, "", "b"), (4, "", "c")], (12, "b")),
        ([(0, "", "first"), (0, "", "last")], (0, "last")),
        ([(1, "2010-01-01 00:00:00", "new"), (2, OLD, "old")], (1, "new")),
    ],
)
async def test_the_newest_revision_of_a_history_counts(tmp_path, revisions, newest):
    batches, _ = await read_whole(tmp_path / "d.xml", history(*revisions))
    (found,) = pages_of(batches)
    assert (found.revision_id, found.text) == newest


async def test_the_newest_revision_decides_what_a_page_is(tmp_path):
    hidden = (
        b"<revision><id>2</id><timestamp>2011-01-01T00:00:00Z</timestamp>"
        b'<text deleted="deleted" /></revision>'
    )
    hidden_since = history((1, OLD, "text")).replace(b"</page>", hidden + b"</page>")
    batches, _ = await read_whole(tmp_path / "d.xml", hidden_since)
    assert ids(batches) == []
    assert skips(batches) == {"deleted or hidden": 1}
    moved_since = history((2, NEW, "#REDIRECT [[X]]"), (1, OLD, "text"))
    batches, _ = await read_whole(tmp_path / "e.xml", moved_since)
    assert ids(batches) == []


async def test_all_dumps_in_one_file_count(tmp_path):
    two_dumps = dump(range(1, 50)) + dump(range(50, 120))
    batches, _ = await read_whole(tmp_path / "both.xml", two_dumps)
    assert ids(batches) == list(range(1, 120))
    empty_dumps = b"<mediawiki></mediawiki>" * 20_000
    batches, _ = await read_whole(tmp_path / "many.xml", empty_dumps)
    assert ids(batches) == []


@pytest.mark.parametrize("compress", [bytes, bz2.compress, gzip.compress])
async def test_standard_input_comes_as_it_is_and_resumes_if_fed_again(monkeypatch, compress):
    def feed():
        data = io.BytesIO(compress(dump(range(1, 200))))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(data)))

    feed()
    info, whole = await collect(dump_source(["-"], held_out=10))
    assert info.name == "standard input"
    assert info.articles is None
    assert ids(whole) == list(range(1, 200))
    assert whole[0].lap is None
    feed()
    _, rest = await collect(dump_source(["-"], held_out=10, resuming=True), whole[1].position)
    assert ids(rest) == ids(whole[2:])


async def test_batches_are_bounded_and_closing_early_is_safe(tmp_path):
    source = dump_source([write(tmp_path / "d.bz2", multistream(range(1, 1000)))])
    _, batches = await collect(source, stop_after=3)
    assert len(batches) == 3
    assert all(0 < len(batch.pages) <= BATCH_PAGES for batch in batches)
    await source.close()


async def test_the_background_reads_only_a_little_ahead():
    made = []

    def items():
        for i in range(100):
            made.append(i)
            yield i

    async for item in Background(items, ahead=2).run():
        await asyncio.sleep(0.001)
        assert len(made) <= item + 5
        if item == 20:
            break
    assert 20 < len(made) <= 25


@needs_corpus
async def test_a_real_dump():
    path = CORPUS / "wikitext" / "enwiki-2016-sample.xml.bz2"
    info, batches = await collect(dump_source([str(path)]))
    assert info.file_names == ("File",)
    assert info.articles == 98
    assert len(ids(batches)) == 98
    titles = {page.title for page in pages_of(batches)}
    assert {"Anarchism", "Albedo"} <= titles
    assert skips(batches).total() == 8


@pytest.mark.parametrize("size", [5, 60, 10**9])
def test_a_dump_may_come_in_pieces_of_any_size(size):
    """From Expat 2.6 on, the parser does not read a tag again to which only a few bytes were
    added."""
    whole = dump(range(1, 4))
    for cut in range(len(HEAD), len(whole)):
        entries = []
        with DumpReader("dump") as reader:
            for piece in (whole[:cut], whole[cut : cut + size], whole[cut + size :]):
                entries += reader.feed(piece)
            entries += reader.close()
        assert [entry.page.page_id for entry in entries] == [1, 2, 3]
        assert not reader.losses.told


def test_a_revision_outside_of_a_page_is_none():
    revision = "<revision><text>x</text></revision>"
    data = f"<mediawiki><siteinfo>{revision}</siteinfo>{page(1)}</mediawiki>".encode()
    with DumpReader("odd") as reader:
        assert [entry.page.page_id for entry in reader.feed(data)] == [1]


@functools.cache
def long_dump(name):
    """A dump of 2500 pages, which is more than one of bzip2's blocks, wrapped as this name
    says."""
    pages = [page(number, text=os.urandom(150).hex()) for number in range(1, 2501)]
    return WRAPPINGS[name](dump_of(pages))


@pytest.mark.parametrize(
    "name", ["dump.xml", "dump.xml.bz2", "dump.xml.gz", "dump.xml.xz", "dump.xml.zst"]
)
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


@pytest.mark.parametrize("name", WRAPPINGS)
@pytest.mark.parametrize("size", [3, 7, 60])
async def test_a_dump_cut_before_its_first_page_is_none(tmp_path, name, size):
    whole = WRAPPINGS[name](dump(range(1, 50)))
    with pytest.raises(BadSource, match=name):
        await read_whole(tmp_path / name, whole[:size])


@pytest.mark.parametrize(
    "encoding",
    ["rot13", "idna", "utf-7", "unicode_escape", "punycode", "hex", "utf-16", "x" * 5000],
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
    ids=[
        "nested",
        "kinds",
        "long name",
        "attributes",
        "attribute",
        "comment",
        "instruction",
        "text",
    ],
)
@pytest.mark.parametrize("at_the_start", [True, False])
async def test_xml_that_grows_without_bound_is_not_kept(
    tmp_path,
    monkeypatch,
    hostile,
    at_the_start,
):
    """What the parser would have to keep is bounded. Behind it, the next page is sought."""
    monkeypatch.setattr(xml, "_MOST_SILENCE", 1 << 20)
    before = [] if at_the_start else [page(1), page(2)]
    found = [3] if at_the_start else [1, 2, 3]
    path = tmp_path / "d.xml.gz"
    data = gzip.compress(dump_of([*before, hostile, page(3)]), 1)
    batches, source = await read_whole(path, data)
    assert ids(batches) == found
    assert "broken XML" in source.activity.errors[0].text
    without_a_page = gzip.compress(dump_of([hostile]), 1)
    with pytest.raises(BadSource, match="not a MediaWiki dump"):
        await read_whole(path, without_a_page)


async def test_pages_beyond_mediawikis_own_bounds_are_skipped(tmp_path):
    largest_text = 2 << 20  # bytes
    longest_title = 255  # bytes
    titles = {
        4: "é" * 127 + "x",  # as long as may be
        5: "é" * 128,
        6: "x" * 3_000_000,
    }
    pages = [
        page(1, text="x" * largest_text),
        page(2, text="x" * largest_text + "y"),
        page(3, text="€" * 700_000),  # fewer characters than bytes may be, but three bytes each
    ]
    for number, title in titles.items():
        pages.append(page(number).replace(f"Title {number}", title))
    pages.append(page(7))
    assert len(titles[4].encode()) == longest_title
    batches, _ = await read_whole(tmp_path / "d.xml", dump_of(pages))
    assert ids(batches) == [1, 4, 7]
    assert skips(batches) == {"too large": 4}


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.gz"])
async def test_large_pages_come_in_small_batches_and_are_not_all_kept(tmp_path, monkeypatch, name):
    """Those held out are read again where their texts would be too much to keep."""
    monkeypatch.setattr(file_source, "_MOST_KEPT", 100_000)
    monkeypatch.setattr(file_source, "BATCH_CHARACTERS", 100_000)
    # Of 40,000 characters each: a batch is full with three pages.
    texts = {number: os.urandom(20_000).hex() for number in range(1, 61)}
    pages = [page(number, text=text) for number, text in texts.items()]
    path = write(tmp_path / name, WRAPPINGS[name](dump_of(pages)))
    _, first = scan(DumpFiles([path]), 30)
    lengths = [len(found.text) for found in first if found.text is not None]
    assert 0 < sum(lengths) <= 100_000
    assert len(first) - len(lengths) > 20, "most are not kept"
    _, batches = await collect(dump_source([path], held_out=10))
    found = pages_of(batches)
    assert {page.page_id: page.text for page in found} == texts
    assert len(found) == 60
    assert ids(batches)[:30] == sorted(texts, key=page_hash)[:30]
    assert max(len(batch.pages) for batch in batches) == 3


ENTITIES = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"
WITH_ENTITY = page(1, "x").replace(">x<", ">&b;<")


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
        (dump_of([WITH_ENTITY], head=ENTITIES + HEAD), "declares a document type"),
        (
            f'<!DOCTYPE x SYSTEM "file:///etc/passwd">{HEAD}&x;</mediawiki>'.encode(),
            "not a MediaWiki dump",
        ),
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
    _, (first_batch,) = await collect(dump_source([path], held_out=0), stop_after=1)
    write(tmp_path / "d.xml", dump(range(1, 100)))
    with pytest.raises(BadSource, match="has changed"):
        await collect(dump_source([path], held_out=0, resuming=True), first_batch.position)


@pytest.mark.parametrize(
    "wrong",
    [{"offset": "x"}, {"offset": None}, {"skip": -1}, {"file": 1}, {"read": 1.5}, {"first": 2**70}],
    ids=str,
)
async def test_a_damaged_position_is_one_line(tmp_path, wrong):
    path = write(tmp_path / "d.xml", dump(range(1, 200)))
    _, (first_batch,) = await collect(dump_source([path], held_out=0), stop_after=1)
    resumed = dump_source([path], held_out=0, resuming=True)
    with pytest.raises(BadPosition) as caught:
        await collect(resumed, first_batch.position | wrong)
    assert caught.value.exit_code == 5


@given(st.binary(max_size=3000), st.integers(0, 4000), st.sampled_from(list(WRAPPINGS.values())))
def test_arbitrary_damage_gives_articles_or_one_clear_error(tmp_path_factory, noise, place, wrap):
    data = wrap(dump(range(1, 30)))
    lost = len(noise) // 2  # the noise takes their place
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(data[:place] + noise + data[place + lost :])
    n_pages = 0
    with contextlib.suppress(BadSource):
        for page_or_reason, _ in DumpFiles([str(path)]).read():
            if isinstance(page_or_reason, Page):
                n_pages += 1
    assert n_pages <= 60
