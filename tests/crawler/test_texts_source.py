"""The source of the user's own documents: what is held out, how it is resumed, and files that
change."""

import gzip
import json
import os
import re

import pytest

from tests.crawler.dumps import collect, ids, skips
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import FileSource, page_hash
from wikitopics.crawler.texts.files import TextFiles


def texts_source(paths, *, held_out=None, resuming=False):
    """The documents of the files, as a trainer gets them."""
    return FileSource("texts", TextFiles(paths), held_out=held_out, resuming=resuming)


def lines(first, last):
    return "".join(
        json.dumps({"text": f"text {i}", "id": f"n{i}"}) + "\n" for i in range(first, last)
    )


@pytest.fixture
def folder(tmp_path):
    """400 documents, of which one is bad and one comes twice, in four kinds of files."""
    (tmp_path / "a.jsonl").write_text(lines(1, 150) + "bad\n" + lines(7, 8))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(200, 300).encode()))
    (tmp_path / "c.csv").write_text("text\n" + '"two\nlines"\n' * 99)
    (tmp_path / "d").mkdir()
    for i in range(50):
        (tmp_path / "d" / f"{i:02}.txt").write_text(f"file {i}")
    return tmp_path


def paths(folder):
    return [str(folder / name) for name in ("a.jsonl", "b.jsonl.gz", "c.csv", "d")]


async def test_the_held_out_come_from_everywhere_and_the_rest_in_order(folder):
    source = texts_source(paths(folder))
    info, batches = await collect(source)
    assert (info.articles, info.name) == (398, "a.jsonl and 3 more")
    known = sorted(set(range(1, 401)) - {150, 151})
    by_hash = sorted(known, key=page_hash)
    assert ids(batches) == by_hash[:59] + sorted(by_hash[59:])  # a tenth, and a few to spare
    assert skips(batches) == {"not JSON": 1, "repeated": 1}
    assert [error.text.rpartition("/")[2] for error in source.activity.errors] == [
        "a.jsonl, line 150: not JSON; skipped",
        "a.jsonl, line 151: the id 'n7' is a duplicate; skipped",
    ]
    assert batches[-1].lap == 1.0
    _, in_order = await collect(texts_source(paths(folder), held_out=0))
    assert ids(in_order) == known


def grow(path):
    path.write_text(path.read_text() + lines(900, 901))


def same_size(path):
    path.write_text(path.read_text().replace("text 5", "text 6"))


@pytest.mark.parametrize("change", [grow, same_size])
@pytest.mark.parametrize("done", [1, 3])
async def test_a_file_that_has_changed_is_named(folder, change, done):
    _, batches = await collect(texts_source(paths(folder)), stop_after=done)
    os.utime(folder / "a.jsonl", (2e9, 2e9))
    change(folder / "a.jsonl")
    os.utime(folder / "a.jsonl", (3e9, 3e9))
    with pytest.raises(
        BadSource, match=rf"{re.escape(str(folder))}/a\.jsonl has changed since .*--session"
    ):
        await collect(texts_source(paths(folder), resuming=True), batches[-1].position)


async def test_files_that_come_or_go_are_told(folder):
    _, batches = await collect(texts_source(paths(folder)), stop_after=1)
    (folder / "d" / "new.txt").write_text("new")
    with pytest.raises(BadSource, match="54 files, no longer 53"):
        await collect(texts_source(paths(folder), resuming=True), batches[-1].position)
    (folder / "a.jsonl").unlink()
    with pytest.raises(BadSource, match=r"a\.jsonl: no such file"):
        texts_source(paths(folder), resuming=True)


async def test_a_copy_with_other_times_is_the_same(folder):
    _, whole = await collect(texts_source(paths(folder)))
    for path in folder.rglob("*"):
        os.utime(path)
    _, rest = await collect(texts_source(paths(folder), resuming=True), whole[1].position)
    assert [(b.pages, b.skips, b.lap) for b in rest] == [
        (b.pages, b.skips, b.lap) for b in whole[2:]
    ]
    assert rest[-1].position["listing"] != whole[-1].position["listing"]


async def test_a_file_that_is_written_to_meanwhile_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines(1, 2000))
    source = texts_source([str(path)], held_out=0)
    await source.open()
    with path.open("a") as file:
        file.write(lines(2000, 3000))
    with pytest.raises(BadSource, match="changed while it was read"):
        async for _ in source.batches(None):
            pass
    await source.close()
