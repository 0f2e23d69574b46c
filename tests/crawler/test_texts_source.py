"""The source of the user's own documents: what is held out, how it is resumed, and files that
change."""

import gzip
import json
import os
import re
from itertools import pairwise

import pytest

from tests.crawler.dumps import collect, ids, skips
from wikitopics.crawler import file_source
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import FileSource, page_hash
from wikitopics.crawler.texts.documents import TextFiles


def texts_source(paths, *, held_out=None, seed=None, resuming=False):
    """The documents of the files in order or, with a seed, as a trainer gets them."""
    return FileSource("texts", TextFiles(paths), held_out=held_out, seed=seed, resuming=resuming)


def json_line(number):
    return json.dumps({"text": f"text {number}", "id": f"n{number}"}) + "\n"


def json_lines(numbers):
    return "".join(map(json_line, numbers))


@pytest.fixture
def folder(tmp_path):
    """400 documents in four kinds of files; number 150 is bad, and 151 repeats number 7."""
    (tmp_path / "a.jsonl").write_text(json_lines(range(1, 150)) + "bad\n" + json_line(7))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json_lines(range(200, 300)).encode()))
    (tmp_path / "c.csv").write_text("text\n" + '"two\nlines"\n' * 99)
    (tmp_path / "d").mkdir()
    for number in range(50):
        (tmp_path / "d" / f"{number:02}.txt").write_text(f"file {number}")
    return tmp_path


def paths(folder):
    return [str(folder / name) for name in ("a.jsonl", "b.jsonl.gz", "c.csv", "d")]


async def test_the_held_out_come_from_everywhere_and_the_rest_in_order(folder):
    source = texts_source(paths(folder))
    info, batches = await collect(source)
    assert info.name == "a.jsonl and 3 more"
    good = [number for number in range(1, 401) if number not in (150, 151)]
    assert info.articles == len(good)
    n_first = 59  # a tenth, which is held out, and half as many to spare
    by_hash = sorted(good, key=page_hash)
    assert ids(batches) == by_hash[:n_first] + sorted(by_hash[n_first:])
    assert skips(batches) == {"not JSON": 1, "repeated": 1}
    assert [error.text for error in source.activity.errors] == [
        f"{folder}/a.jsonl, line 150: not JSON; skipped",
        f"{folder}/a.jsonl, line 151: the id 'n7' is a duplicate; skipped",
    ]
    assert batches[-1].lap == 1.0
    _, in_order = await collect(texts_source(paths(folder), held_out=0))
    assert ids(in_order) == good


async def test_documents_are_mixed_by_the_seed(folder):
    _, in_order = await collect(texts_source(paths(folder), held_out=20))
    orders = []
    for seed in (1, 1, 2):
        _, batches = await collect(texts_source(paths(folder), held_out=20, seed=seed))
        orders.append(ids(batches))
        assert sorted(orders[-1]) == sorted(ids(in_order))
        assert orders[-1][:30] == ids(in_order)[:30]  # those that are held out, and some to spare
        assert skips(batches) == skips(in_order)
        assert batches[-1].lap == 1.0
    first, again, other = orders
    assert first == again != other
    neighbours = [abs(one - next_one) for one, next_one in pairwise(first[30:])]
    assert 100 < sum(neighbours) / len(neighbours) < 170  # a third of 400


@pytest.mark.parametrize("together", [7, 130, 1000])
async def test_a_resumed_source_goes_on_in_the_middle_of_what_is_mixed(
    folder, monkeypatch, together
):
    monkeypatch.setattr(file_source, "MIXED_PAGES", together)
    monkeypatch.setattr(file_source, "BATCH_PAGES", 9)
    _, batches = await collect(texts_source(paths(folder), seed=5))
    for number in (1, 6, 7, 8, 20, len(batches) - 1):
        position = json.loads(json.dumps(dict(batches[number - 1].position)))
        resumed = texts_source(paths(folder), seed=5, resuming=True)
        _, rest = await collect(resumed, position)
        assert ids(rest) == ids(batches[number:])
        assert skips(rest) == skips(batches[number:])
        assert rest[-1].lap == 1.0


async def test_what_is_mixed_is_bounded_by_its_characters_too(tmp_path, monkeypatch):
    monkeypatch.setattr(file_source, "MIXED_CHARACTERS", 100)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": "x" * 10}) + "\n" for _ in range(35)))
    _, batches = await collect(texts_source([str(path)], held_out=0, seed=1))
    found = ids(batches)
    for start in range(0, 35, 10):
        assert sorted(found[start : start + 10]) == list(range(start + 1, min(start + 11, 36)))
    assert found != sorted(found)


async def test_a_session_of_an_earlier_version_goes_on_in_order(folder):
    _, batches = await collect(texts_source(paths(folder)))
    resumed = texts_source(paths(folder), seed=5, resuming=True)
    _, rest = await collect(resumed, batches[3].position)
    assert ids(rest) == ids(batches[4:])


def grow(path):
    path.write_text(path.read_text() + json_line(900))


def change_a_digit(path):
    path.write_text(path.read_text().replace("text 5", "text 6"))


@pytest.mark.parametrize("change", [grow, change_a_digit])
@pytest.mark.parametrize("n_batches", [1, 3])
async def test_a_file_that_has_changed_is_named(folder, change, n_batches):
    _, batches = await collect(texts_source(paths(folder)), stop_after=n_batches)
    path = folder / "a.jsonl"
    change(path)
    in_the_future = 3e9
    os.utime(path, (in_the_future, in_the_future))
    message = rf"{re.escape(str(path))} has changed since .*--session"
    with pytest.raises(BadSource, match=message):
        await collect(texts_source(paths(folder), resuming=True), batches[-1].position)


async def test_files_that_come_or_go_are_told(folder):
    _, (batch,) = await collect(texts_source(paths(folder)), stop_after=1)
    (folder / "d" / "new.txt").write_text("new")
    with pytest.raises(BadSource, match="54 files, no longer 53"):
        await collect(texts_source(paths(folder), resuming=True), batch.position)
    (folder / "a.jsonl").unlink()
    with pytest.raises(BadSource, match=r"a\.jsonl: no such file"):
        texts_source(paths(folder), resuming=True)


async def test_a_copy_with_other_times_is_the_same(folder):
    _, whole = await collect(texts_source(paths(folder)))
    for path in folder.rglob("*"):
        os.utime(path)
    _, second, *others = whole
    _, rest = await collect(texts_source(paths(folder), resuming=True), second.position)
    for again, before in zip(rest, others, strict=True):
        assert again.pages == before.pages
        assert again.skips == before.skips
        assert again.lap == before.lap
    assert rest[-1].position["listing"] != whole[-1].position["listing"]


async def test_a_file_that_is_written_to_meanwhile_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json_lines(range(1, 2000)))
    source = texts_source([str(path)], held_out=0)
    await source.open()
    with path.open("a") as file:
        file.write(json_lines(range(2000, 3000)))
    with pytest.raises(BadSource, match="changed while it was read"):
        async for _ in source.batches(None):
            pass
    await source.close()
