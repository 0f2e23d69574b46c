"""Dumps: every wrapping, order, resuming, what is an article."""

import asyncio
import bz2
import gzip
import io
import os
import sys

import pytest
import zstandard

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
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.file_source import BATCH_PAGES, page_hash
from wikitopics.crawler.system import Background


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
    found = {page.page_id: page for batch in batches for page in batch.pages}[17]
    assert (found.title, found.revision_id, found.markup) == ("Title 17", 1017, "wikitext")
    assert found.text == "Article 17 & {{x}} <ref>r</ref> é語"


@pytest.mark.parametrize(("held_out", "first"), [(100, 120), (None, 60), (0, 0)])
async def test_the_held_out_come_first_and_the_rest_in_order(tmp_path, held_out, first):
    """By default a tenth of a small dump is held out, and in any case a few more come first."""
    data = bz2.compress(dump(range(1, 401)))
    batches, _ = await read_whole(tmp_path / "d.bz2", data, held_out=held_out)
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
    paths = [write(tmp_path / f"1.{name}", compressed), write(tmp_path / "2.xml", dump(range(300, 420)))]
    _, whole = await collect(dump_source(paths, held_out=60))
    assert sorted(ids(whole)) == list(range(1, 420))
    for done in range(1, len(whole) + 1):
        _, rest = await collect(dump_source(paths, held_out=60, resuming=True), whole[done - 1].position)
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
        page(6, text="{{Mathematical disambiguation}}"),
        page(7, text="  "),
        page(8, model="json", text="{}"),
        page(9).replace('<text bytes="9"', '<text deleted="deleted" bytes="9"'),
        page(10).replace("<id>10</id>", "<id>ten</id>", 1),
        page(11, text="{{disambiguation needed|date=May}} stays"),
        page(2**40),
    ]
    path = write(tmp_path / "d.xml", (HEAD + "".join(pages) + FOOT).encode())
    info, batches = await collect(dump_source([path], held_out=0))
    assert ids(batches) == [1, 11, 2**40]
    once = ("no text", "no wikitext", "deleted or hidden", "damaged")
    assert skips(batches) == {"disambiguation": 2} | dict.fromkeys(once, 1)
    assert info.articles == 3


@pytest.mark.parametrize(("language", "articles"), [("nl", [1, 3, 4]), ("en", [1, 2, 3, 4])])
async def test_the_dump_says_in_which_language_its_disambiguation_pages_are(tmp_path, language, articles):
    texts = {2: "{{dp}}", 3: "Around {{dp|Ceres}} and {{disambigneeded|Vesta}} it says so."}
    head = HEAD.replace('xml:lang="de"', f'xml:lang="{language}"')
    pages = [page(i, text=texts.get(i)) for i in range(1, 5)]
    parts = [head, *pages, FOOT]
    path = write(tmp_path / "d.bz2", b"".join(bz2.compress(part.encode()) for part in parts))
    _, whole = await collect(dump_source([path], held_out=0))
    assert ids(whole) == articles
    # A second run begins in the middle of the file, where the language is no longer written.
    behind_first = {**whole[-1].position, "offset": len(bz2.compress(head.encode())), "skip": 1, "read": 1}
    _, rest = await collect(dump_source([path], held_out=0, resuming=True), behind_first)
    assert ids(rest) == articles[1:]


async def test_the_last_revision_of_a_history_and_all_dumps_in_one_file_count(tmp_path):
    second = "<revision><id>99</id><text>newer</text></revision>\n  </page>"
    data = (HEAD + page(1).replace("</page>", second) + FOOT).encode()
    batches, _ = await read_whole(tmp_path / "d.xml", data)
    assert [(page.revision_id, page.text) for page in batches[0].pages] == [(99, "newer")]
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
    path = write(tmp_path / "d.bz2", multistream(range(1, 1000)))
    source = dump_source([path])
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
    info, batches = await collect(dump_source([str(CORPUS / "wikitext" / "enwiki-2016-sample.xml.bz2")]))
    assert info.file_names == ("File",)
    assert len(ids(batches)) == info.articles == 98
    assert {"Anarchism", "Albedo"} <= {page.title for batch in batches for page in batch.pages}
    assert sum(sum(batch.skips.values()) for batch in batches) == 8


def test_what_looks_like_a_page_outside_of_one_is_none():
    odd = "<revision><text>x</text></revision>"
    data = f"<mediawiki><siteinfo>{odd}</siteinfo>{page(1)}</mediawiki>".encode()
    with DumpReader("odd") as reader:
        assert [entry.page.page_id for entry in reader.feed(data)] == [1]
