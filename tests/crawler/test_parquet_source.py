"""Parquet files as a source: their order, what is held out, where it is resumed, and changes."""

import os
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.crawler.parquet import in_small_steps, read, source_of, table, write  # noqa: F401
from wikitopics.crawler.errors import BadPosition, BadSource
from wikitopics.crawler.texts.parquet_order import repeated_rows

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("in_small_steps")]
pytest.importorskip("pyarrow", reason="pyarrow is an optional extra")


@pytest.fixture(params=[30, 400, 5], ids=["some groups", "one group", "many groups"])
def files(request, tmp_path):
    """900 documents in two files."""
    return [
        write(tmp_path / "a.parquet", table(range(1, 401)), group=request.param),
        write(tmp_path / "b.parquet", table(range(401, 901)), group=request.param),
    ]


async def test_every_document_comes_once_in_a_random_order(files):
    ids, skips, _, pages = await read(source_of(*files))
    assert sorted(ids) == list(range(1, 901))
    assert skips == []
    page = pages[500]
    assert (page.id, page.title, page.text) == (
        "n500",
        "Title 500",
        "text number 500 of a river",
    )
    assert ids != sorted(ids)
    again, _, _, _ = await read(source_of(*files))
    assert again == ids
    other, _, _, _ = await read(source_of(*files, seed=4))
    assert sorted(other) == sorted(ids)
    assert other != ids


async def test_it_is_resumed_anywhere(files):
    whole, _, _, _ = await read(source_of(*files))
    for stop_after in (1, 2, 5, 9, 14, 23, 40):
        first, _, position, _ = await read(source_of(*files), stop_after=stop_after)
        assert 0 < len(first) <= len(whole)
        rest, _, _, _ = await read(source_of(*files, resuming=True), position)
        assert first + rest == whole


async def test_it_is_resumed_again_and_again(files):
    whole, _, _, _ = await read(source_of(*files))
    ids, _, position, _ = await read(source_of(*files), stop_after=3)
    while len(ids) < len(whole):
        more, _, position, _ = await read(source_of(*files, resuming=True), position, 4)
        assert more
        ids += more
    assert ids == whole


async def test_the_held_out_come_from_everywhere_and_only_once(files):
    source = source_of(*files)
    info = await source.open()
    await source.close()
    assert info.articles == 900
    n_first = info.start["first"]
    assert n_first == 90 + 20
    ids, _, _, _ = await read(source_of(*files))
    first = ids[:n_first]
    assert len(set(ids)) == 900
    of_tenths = Counter((number - 1) // 90 for number in first)
    assert all(of_tenths[tenth] >= 5 for tenth in range(10))
    exact, _, _, _ = await read(source_of(*files, held_out=0))
    assert sorted(exact) == list(range(1, 901))


async def test_neighbours_are_apart(tmp_path):
    """Even in one row group, if that is not larger than a stretch; and several are read in turn."""
    path = write(tmp_path / "a.parquet", table(range(1, 801)), group=100)
    ids, _, _, _ = await read(source_of(path, held_out=0))
    of_first = Counter((number - 1) // 100 for number in ids[:80])
    assert len(of_first) == 8
    path = write(tmp_path / "b.parquet", table(range(1, 81)), group=80)
    ids, _, _, _ = await read(source_of(path, held_out=0))
    assert sum(1 for a, b in pairwise(ids) if b == a + 1) < 10


async def test_repeated_ids_are_skipped(tmp_path):
    names = [f"n{number}" for number in range(1, 101)]
    names[40] = "n1"
    names[41] = "n1"
    names[50:60] = [None] * 5 + [" "] * 5
    made = table(range(1, 101), id=names)
    others = table(range(101, 120), id=[*range(1, 18), 1, 5])
    paths = [write(tmp_path / "a.parquet", made, 30), write(tmp_path / "b.parquet", others)]
    source = source_of(*paths)
    ids, skips, _, pages = await read(source)
    left_out = {41, 42, 118, 119}
    assert set(ids) == set(range(1, 120)) - left_out
    assert Counter(skips) == {"repeated": 4}
    assert pages[51].id == ""
    assert pages[101].id == "1"
    assert [error.text for error in source.activity.errors] == [
        "the files: 4 of 119 documents repeat an id and are skipped"
    ]
    first, _, position, _ = await read(source_of(*paths), stop_after=5)
    assert "set" in position, "behind those held out"
    resumed = source_of(*paths, resuming=True)
    rest, _, _, _ = await read(resumed, position)
    assert first + rest == ids
    assert resumed.activity.waiting_for is None, "the ids have been read again"


async def test_a_row_without_text_is_not_what_others_repeat(tmp_path):
    """As in other files: of the rows with an id, the first document is read."""
    names = [f"n{number}" for number in range(1, 101)]
    texts = [f"text {number}" for number in range(1, 101)]
    for number, name, text in (
        (3, "a", None),
        (4, "a", "the first document"),
        (5, "a", "again"),
        (10, "b", ""),
        (40, "b", " \n"),
        (70, "b", "the first document"),
        (71, "b", None),
        (20, "c", None),
        (90, "c", ""),
        (95, "n1", "again"),
    ):
        names[number - 1] = name
        texts[number - 1] = text
    path = write(tmp_path / "a.parquet", table(range(1, 101), id=names, text=texts), 30)
    ids, skips, _, pages = await read(source_of(path))
    assert set(ids) == set(range(1, 101)) - {3, 5, 10, 20, 40, 71, 90, 95}
    assert (pages[4].text, pages[70].text) == ("the first document", "the first document")
    assert Counter(skips) == {"no text": 5, "repeated": 3}
    first, _, position, _ = await read(source_of(path), stop_after=4)
    rest, _, _, _ = await read(source_of(path, resuming=True), position)
    assert first + rest == ids


async def test_a_damaged_row_is_not_what_others_repeat(tmp_path):
    made = table(range(1, 61))
    paths = [
        write(tmp_path / name, made, 30, compression="none") for name in ("a.parquet", "b.parquet")
    ]
    data = Path(paths[0]).read_bytes()
    begin = data.index(b"text number 31")
    Path(paths[0]).write_bytes(data[: begin - 200] + bytes(200) + data[begin:])
    ids, skips, _, _ = await read(source_of(*paths))
    assert set(ids) == {*range(1, 31), *range(91, 121)}
    assert Counter(skips) == {"damaged": 30, "repeated": 30}


async def test_texts_of_ids_that_are_known_are_not_read_again(tmp_path):
    path = write(tmp_path / "a.parquet", table(range(1, 301), id=["one", "two"] * 150), 50)
    source = source_of(path)
    await source.open()
    groups_read = []
    files = source._files
    batches = files.batches
    files.batches = lambda group: groups_read.append(group.number) or batches(group)
    assert len(repeated_rows(files, lambda: False, lambda share: None)) == 298
    assert groups_read == [0]
    await source.close()


async def test_large_steps_are_compressed_and_change_nothing(files, monkeypatch):
    whole = await read(source_of(*files))
    some = await read(source_of(*files), stop_after=5)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_steps._PLAIN_BYTES", 0)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_steps._JOB_BYTES", 100)
    assert await read(source_of(*files)) == whole
    assert await read(source_of(*files), stop_after=5) == some


async def test_texts_that_are_too_large_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_steps._JOB_BYTES", 1000)
    for module in ("parquet_rows", "parquet_steps"):
        monkeypatch.setattr(f"wikitopics.crawler.texts.{module}.LARGEST_DOCUMENT", 2000)
    texts = ["small", "x" * 1900, "y" * 2001] * 20
    path = write(tmp_path / "a.parquet", table(range(1, 61), text=texts), 20)
    ids, skips, _, _ = await read(source_of(path))
    assert sorted(ids) == [number for number in range(1, 61) if number % 3]
    assert Counter(skips) == {"too large": 20}


async def test_an_address_is_the_id_if_there_is_no_other(tmp_path):
    made = table(range(1, 30), url=[f"https://x/{number}" for number in range(1, 30)])
    path = write(tmp_path / "a.parquet", made.drop_columns(["id", "title"]))
    _, _, _, pages = await read(source_of(path))
    assert (pages[3].id, pages[3].title) == ("https://x/3", "https://x/3")
    path = write(tmp_path / "b.parquet", made.drop_columns(["id", "title", "url"]))
    _, _, _, pages = await read(source_of(path))
    assert (pages[3].id, pages[3].title) == ("", "b.parquet:3")


async def test_rows_without_a_text_are_skipped(tmp_path):
    texts = [f"text {number}" for number in range(1, 51)]
    texts[3:6] = [None, "", " \n"]
    path = write(tmp_path / "a.parquet", table(range(1, 51), text=texts), 20)
    ids, skips, _, _ = await read(source_of(path))
    assert set(ids) == set(range(1, 51)) - {4, 5, 6}
    assert Counter(skips) == {"no text": 3}


def grow(path):
    write(path, table(range(1, 500)))


def change_a_row(path):
    write(path, table(range(1, 401), title=["x"] * 400))


@pytest.mark.parametrize("change", [grow, change_a_row])
async def test_files_that_have_changed_are_told(files, change):
    _, _, position, _ = await read(source_of(*files), stop_after=3)
    change(files[0])
    with pytest.raises(BadSource, match=r"the files have changed since .*--session"):
        await read(source_of(*files, resuming=True), position)
    os.unlink(files[0])
    with pytest.raises(BadSource, match="cannot be read: No such file"):
        await read(source_of(*files, resuming=True), position)


async def test_a_copy_is_the_same(files):
    whole, _, _, _ = await read(source_of(*files))
    first, _, position, _ = await read(source_of(*files), stop_after=3)
    for path in files:
        os.utime(path)
    rest, _, _, _ = await read(source_of(*files, resuming=True), position)
    assert first + rest == whole


async def test_a_file_that_is_written_to_meanwhile_is_told(files):
    source = source_of(*files, held_out=0)
    info = await source.open()
    os.utime(files[1], (3e9, 3e9))
    with pytest.raises(BadSource, match=r"b\.parquet changed while it was read"):
        async for _ in source.batches(info.start):
            pass
    await source.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"set": -1},
        {"set": 1 << 40},
        {"step": "1"},
        {"set": 0, "step": 1 << 60},
        {"together": 0},
        {"together": 1 << 40},
        {"held": 10_000},
        {"seed": None},
        {"first": 1 << 62},
    ],
)
async def test_a_damaged_position_is_told(files, wrong):
    _, _, position, _ = await read(source_of(*files), stop_after=3)
    with pytest.raises(BadPosition):
        await read(source_of(*files, resuming=True), {**position, **wrong})


async def test_damage_costs_the_rest_of_its_row_group(files):
    data = bytearray(Path(files[1]).read_bytes())
    middle = len(data) // 3
    data[middle : middle + 300] = bytes(300)
    Path(files[1]).write_bytes(data)
    source = source_of(*files)
    ids, skips, _, _ = await read(source)
    assert len(ids) + len(skips) == 900
    assert len(set(ids)) == len(ids)
    assert set(range(1, 401)) <= set(ids)
    assert set(skips) <= {"damaged", "no text", "not UTF-8"}
    told = [error.text for error in source.activity.errors]
    for line in told:
        assert re.search(r"b\.parquet, row group \d+: damaged from row \d+ on", line)
    assert told or not skips
    for stop_after in (2, 6, 20):
        first, _, position, _ = await read(source_of(*files), stop_after=stop_after)
        rest, _, _, _ = await read(source_of(*files, resuming=True), position)
        assert first + rest == ids
