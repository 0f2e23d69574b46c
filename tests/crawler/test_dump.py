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
    assert (info.name, info.articles, info.file_names) == (name, 399, ("Datei",))
    assert info.category_names == ("Kategorie",)
    assert sorted(ids(batches)) == list(range(1, 400))
    assert batches[-1].lap == 1.0
    pages = {page.page_id: page for batch in batches for page in batch.pages}
    page = pages[17]
    assert (page.title, page.revision_id, page.markup) == ("Title 17", 1017, "wikitext")
    assert page.text == "Article 17 & {{x}} <ref>r</ref> é語"


@pytest.mark.parametrize(("held_out", "first"), [(100, 120), (None, 60), (0, 0)])
async def test_the_held_out_come_first_and_the_rest_in_order(tmp_path, held_out, first):
    """By default a tenth of a small dump is held out, and in any case a few more come first."""
    batches, _ = await read_whole(
        tmp_path / "d.bz2", bz2.compress(dump(range(1, 401))), held_out=held_out
    )
    by_hash = sorted(range(1, 401), key=page_hash)
    assert ids(batches) == by_hash[:first] + sorted(by_hash[first:])


async def test_ids_that_are_none_are_skipped(tmp_path):
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
    for done in range(1, len(whole) + 1):
        _, rest = await collect(
            dump_source(paths, held_out=60, resuming=True), whole[done - 1].position
        )
        assert ids(whole[:done]) + ids(rest) == ids(whole)
        assert [batch.lap for batch in rest] == [batch.lap for batch in whole[done:]]


async def test_a_dump_resumes_at_the_very_page_and_without_reading_what_is_done(tmp_path):
    path = write(tmp_path / "d.xml", dump(range(1, 400)))
    _, whole = await collect(dump_source([path], held_out=0))
    assert whole[-2].position["offset"] > os.path.getsize(path) / 2
    assert whole[-2].position["skip"] == 0
    path = write(tmp_path / "d.bz2", multistream(range(1, 3000)))
    _, whole = await collect(dump_source([path], held_out=0))
    source = dump_source([path], held_out=0, resuming=True)
    _, rest = await collect(source, whole[-2].position)
    assert ids(rest) == ids(whole[-1:])
    assert whole[-2].position["offset"] > 0.8 * os.path.getsize(path)
    assert whole[-2].position["skip"] <= 7
    # One look at the head of the file, which is nearly all of such a small one.
    assert source.files.bytes_read < 1.2 * os.path.getsize(path)


async def test_redirects_other_namespaces_and_pages_without_text_are_no_articles(tmp_path):
    pages = [
        page(1),
        page(2, extra='<redirect title="X" />'),
        page(3, ns=1),
        page(4, text="#REDIRECT [[X]]"),
        page(5, text="'''Five''' may mean:\n* this\n{{Disambiguation|geo}}"),
        page(7, text="  "),
        page(8, model="json", text="{}"),
        page(9).replace('<text bytes="9"', '<text deleted="deleted" bytes="9"'),
        page(10).replace("<id>10</id>", "<id>ten</id>", 1),
        page(2**40),
    ]
    path = write(tmp_path / "d.xml", (HEAD + "".join(pages) + FOOT).encode())
    info, batches = await collect(dump_source([path], held_out=0))
    assert ids(batches) == [1, 2**40]
    once = ("disambiguation", "no text", "no wikitext", "deleted or hidden", "damaged")
    assert skips(batches) == dict.fromkeys(once, 1)
    assert info.articles == 2


@pytest.mark.parametrize(("language", "articles"), [("nl", [1, 3, 4]), ("en", [1, 2, 3, 4])])
async def test_the_dump_says_in_which_language_its_disambiguation_pages_are(
    tmp_path, language, articles
):
    texts = {2: "{{dp}}", 3: "Around {{dp|Ceres}} and {{disambigneeded|Vesta}} it says so."}
    head = HEAD.replace('xml:lang="de"', f'xml:lang="{language}"')
    pages = [page(i, text=texts.get(i)) for i in range(1, 5)]
    parts = [head, *pages, FOOT]
    path = write(tmp_path / "d.bz2", b"".join(bz2.compress(part.encode()) for part in parts))
    _, whole = await collect(dump_source([path], held_out=0))
    assert ids(whole) == articles
    # A second run begins in the middle of the file, where the language is no longer written.
    behind_first = {
        **whole[-1].position,
        "offset": len(bz2.compress(head.encode())),
        "skip": 1,
        "read": 1,
    }
    _, rest = await collect(dump_source([path], held_out=0, resuming=True), behind_first)
    assert ids(rest) == articles[1:]


def history(*revisions):
    """A dump of one page with these revisions: (id, time, text)."""
    body = "<title>T</title><ns>0</ns><id>1</id>"
    for number, time, text in revisions:
        body += "<revision>"
        if number:
            body += f"<id>{number}</id>"
        if time:
            body += f"<timestamp>{time}</timestamp>"
        body += f"<text>{text}</text></revision>"
    return f"{HEAD}<page>{body}</page>{FOOT}".encode()


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
    assert [(page.revision_id, page.text) for page in batches[0].pages] == [newest]


async def test_the_newest_revision_decides_what_a_page_is(tmp_path):
    hidden = (
        '<revision><id>2</id><timestamp>2011-01-01T00:00:00Z</timestamp><text deleted="deleted" '
        "/></revision>"
    )
    data = history((1, OLD, "text")).replace(b"</page>", hidden.encode() + b"</page>")
    batches, _ = await read_whole(tmp_path / "d.xml", data)
    assert (ids(batches), skips(batches)) == ([], {"deleted or hidden": 1})
    batches, _ = await read_whole(
        tmp_path / "e.xml", history((2, NEW, "#REDIRECT [[X]]"), (1, OLD, "text"))
    )
    assert ids(batches) == []


async def test_all_dumps_in_one_file_count(tmp_path):
    batches, _ = await read_whole(tmp_path / "both.xml", dump(range(1, 50)) + dump(range(50, 120)))
    assert ids(batches) == list(range(1, 120))
    batches, _ = await read_whole(tmp_path / "many.xml", b"<mediawiki></mediawiki>" * 20_000)
    assert ids(batches) == []


@pytest.mark.parametrize("compress", [bytes, bz2.compress, gzip.compress])
async def test_standard_input_comes_as_it_is_and_resumes_if_fed_again(monkeypatch, compress):
    def feed():
        data = io.BytesIO(compress(dump(range(1, 200))))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(data)))

    feed()
    info, whole = await collect(dump_source(["-"], held_out=10))
    assert (info.name, info.articles) == ("standard input", None)
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
    info, batches = await collect(
        dump_source([str(CORPUS / "wikitext" / "enwiki-2016-sample.xml.bz2")])
    )
    assert info.file_names == ("File",)
    assert len(ids(batches)) == info.articles == 98
    assert {"Anarchism", "Albedo"} <= {page.title for batch in batches for page in batch.pages}
    assert sum(sum(batch.skips.values()) for batch in batches) == 8


def test_what_looks_like_a_page_outside_of_one_is_none():
    odd = "<revision><text>x</text></revision>"
    data = f"<mediawiki><siteinfo>{odd}</siteinfo>{page(1)}</mediawiki>".encode()
    with DumpReader("odd") as reader:
        assert [entry.page.page_id for entry in reader.feed(data)] == [1]


@functools.cache
def long_dump(name):
    """A dump of 2500 pages, of more than one of bzip2's blocks."""
    pages = [page(number, text=os.urandom(150).hex()) for number in range(1, 2501)]
    whole = (HEAD + "".join(pages) + FOOT).encode()
    return WRAPPINGS[name](whole)


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


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


@pytest.mark.parametrize("name", WRAPPINGS)
@pytest.mark.parametrize("size", [3, 7, 60])
async def test_a_dump_cut_before_its_first_page_is_none(tmp_path, name, size):
    with pytest.raises(BadSource, match=name):
        await read_whole(tmp_path / name, WRAPPINGS[name](dump(range(1, 50)))[:size])


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
    begin = HEAD if at_the_start else HEAD + page(1) + page(2)
    path = tmp_path / "d.xml.gz"
    data = gzip.compress((begin + hostile + page(3) + FOOT).encode(), 1)
    batches, source = await read_whole(path, data)
    assert ids(batches) == ([3] if at_the_start else [1, 2, 3])
    assert "broken XML" in source.activity.errors[0].text
    with pytest.raises(BadSource, match="not a MediaWiki dump"):
        await read_whole(path, gzip.compress((HEAD + hostile + FOOT).encode(), 1))


async def test_pages_beyond_mediawikis_own_bounds_are_skipped(tmp_path):
    most = 2 << 20  # bytes of a text
    pages = [
        page(1, text="x" * most),
        page(2, text="x" * (most + 1)),
        page(3, text="€" * 700_000),  # of three bytes each
        page(4).replace("Title 4", "é" * 127 + "x"),  # 255 bytes, the most of a title
        page(5).replace("Title 5", "é" * 128),
        page(6).replace("Title 6", "x" * 3_000_000),
        page(7),
    ]
    data = (HEAD + "".join(pages) + FOOT).encode()
    batches, _ = await read_whole(tmp_path / "d.xml", data)
    assert ids(batches) == [1, 4, 7]
    assert skips(batches) == {"too large": 4}


async def test_large_pages_come_in_small_batches_and_are_not_all_kept(tmp_path, monkeypatch):
    """Those held out are read again where their texts would be too much to keep."""
    monkeypatch.setattr(file_source, "_MOST_KEPT", 100_000)
    monkeypatch.setattr(file_source, "BATCH_CHARACTERS", 100_000)
    texts = {number: os.urandom(20_000).hex() for number in range(1, 61)}
    pages = [page(number, text=text) for number, text in texts.items()]
    whole = (HEAD + "".join(pages) + FOOT).encode()
    for name in ("dump.xml", "dump.xml.gz"):
        path = write(tmp_path / name, WRAPPINGS[name](whole))
        _, chosen = scan(DumpFiles([path]), 30)
        kept = [article.text for article in chosen]
        assert 0 < sum(map(len, filter(None, kept))) <= 100_000
        assert kept.count(None) > 20
        _, batches = await collect(dump_source([path], held_out=10))
        found = [article for batch in batches for article in batch.pages]
        assert {article.page_id: article.text for article in found} == texts
        assert len(found) == 60
        assert ids(batches)[:30] == sorted(texts, key=page_hash)[:30]
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
        (
            (BOMB + HEAD + page(1, "x").replace(">x<", ">&b;<") + FOOT).encode(),
            "declares a document type",
        ),
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
        await collect(
            dump_source([path], held_out=0, resuming=True), {**batches[0].position, **wrong}
        )
    assert caught.value.exit_code == 5


@given(st.binary(max_size=3000), st.integers(0, 4000), st.sampled_from(list(WRAPPINGS.values())))
def test_arbitrary_damage_gives_articles_or_one_clear_error(tmp_path_factory, noise, at, wrap):
    data = wrap(dump(range(1, 30)))
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(data[:at] + noise + data[at + len(noise) // 2 :])
    found = []
    with contextlib.suppress(BadSource):
        for page, _ in DumpFiles([str(path)]).read():
            if isinstance(page, Page):
                found.append(page.page_id)
    assert len(found) <= 60
