"""A dump read in parts: every page once, wherever the parts and what is compressed in the file are
cut."""

import bz2
import gc
import gzip
import io
import itertools
import lzma
import os
import pickle
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import msgspec
import pytest
import zstandard

from tests.crawler.dumps import FOOT, HEAD, dump, multistream, page, write
from tests.waiting import until
from wikitopics.crawler.dumps.bzip2 import bzip2_blocks
from wikitopics.crawler.dumps.containers import HEAD as HEAD_BYTES
from wikitopics.crawler.dumps.containers import HeldFile, LocalFile, can_be_parted
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.dumps.shuffled import LocalDump, Schedule, spread, survey
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff, Lacking
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.source import Asked

INFO = SourceInfo("", None, language="en")
NUMBERS = range(1, 121)


def pieces(compress, every):
    """A file of frames cut wherever it falls."""
    return lambda data: b"".join(compress(data[i : i + every]) for i in range(0, len(data), every))


FILES = {
    "plain": lambda data: data,
    "pieces.bz2": pieces(bz2.compress, 999),
    "frames.gz": pieces(gzip.compress, 4001),
    "frames.xz": pieces(lzma.compress, 4001),
    "frames.zst": pieces(zstandard.compress, 4001),
    "pzstd.zst": pieces(
        lambda data: b"\x50\x2a\x4d\x18\4\0\0\0size" + zstandard.compress(data), 4001
    ),
}


def local(path, data):
    return LocalFile(write(path, data))


def part_of(file, start, stop, beyond=1 << 30, **more):
    """A part of a file, with so many bytes beyond it."""
    head = file.read(0, HEAD_BYTES)
    data = file.read(start, min(stop + beyond, file.size))
    held = HeldFile(file.name, file.size, head, start, data)
    return DumpPart(held, stop, **more)


def parts_in(file, size=1 << 20):
    """A file's parts of so many bytes."""
    return [
        part_of(file, start, min(start + size, file.size)) for start in range(0, file.size, size)
    ]


def ids_of(parts):
    ids = []
    for part in parts:
        ids += [page.page_id for page in part.pages(INFO) if isinstance(page, Page)]
    return ids


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("size", [401, 5000, 1 << 20])
def test_parts_of_any_size_hold_each_page_once(tmp_path, name, size):
    file = local(tmp_path / name, FILES[name](dump(NUMBERS)))
    assert can_be_parted(file)
    assert ids_of(parts_in(file, size)) == list(NUMBERS)


@pytest.mark.parametrize("size", [401, 5000])
def test_pages_behind_a_long_head_are_in_one_part(tmp_path, size):
    head = HEAD.replace("<siteinfo>", "<siteinfo>" + "<case>first-letter</case>" * 100)
    file = local(tmp_path / "two.xml", dump(NUMBERS, head) + dump(range(121, 141), head))
    assert ids_of(parts_in(file, size)) == [*NUMBERS, *range(121, 141)]


def test_a_single_stream_is_read_by_its_blocks(tmp_path):
    noise = os.urandom(400_000).hex()
    pages = [page(number, noise[number:]) for number in range(1, 6)]
    file = local(tmp_path / "single.bz2", bz2.compress((HEAD + "".join(pages) + FOOT).encode(), 1))
    parts = parts_in(file, 100_000)
    assert can_be_parted(file)
    with_pages = [part for part in parts if ids_of([part])]
    assert len(with_pages) > 2
    assert ids_of(parts) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("wrap", [bz2.compress, gzip.compress, lzma.compress, zstandard.compress])
def test_one_block_or_frame_has_no_place_to_begin_in(tmp_path, wrap):
    assert not can_be_parted(local(tmp_path / "dump", wrap(dump(NUMBERS))))


def test_a_large_frame_behind_small_ones_is_not_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.containers.LARGEST", 3000)
    small = b"".join(gzip.compress(page(number).encode()) for number in range(9))
    large = gzip.compress(os.urandom(20000))
    path = tmp_path / "d.gz"
    assert can_be_parted(local(path, small * 9))
    for data in (small + large, small + large + small, small * 400 + large + small * 400):
        assert not can_be_parted(local(path, data))


@pytest.mark.parametrize("false", [900, 1100])
def test_a_frame_is_not_looked_for_behind_endless_marks_of_none(tmp_path, false):
    compressed = gzip.compress(dump(NUMBERS))
    file = local(tmp_path / "d.gz", compressed + b"\x1f\x8b\x08" * false + compressed)
    (part,) = parts_in(file)
    assert can_be_parted(file) == (false < 1000)
    with pytest.raises(CutOff):
        ids_of([part])


def test_a_part_with_more_articles_than_any_real_one_ends_there(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.parts.MOST_ARTICLES", 100)
    (whole,) = parts_in(local(tmp_path / "dump.xml", dump(NUMBERS)))
    pages = whole.pages(INFO)
    assert [page.page_id for page in itertools.islice(pages, 100)] == list(range(1, 101))
    with pytest.raises(CutOff, match="over 100 articles"):
        next(pages)


def test_a_part_that_unpacks_to_more_than_any_real_one_ends_there(tmp_path):
    head = zstandard.compress(dump(NUMBERS))
    megabyte = zstandard.compress(b" " * (1 << 20))
    byte = zstandard.compress(b" ")
    most = local(tmp_path / "most.zst", head + megabyte * 256)
    assert ids_of([part_of(most, len(head), most.size)]) == []
    more = local(tmp_path / "more.zst", head + megabyte * 256 + byte)
    with pytest.raises(CutOff, match="over 256 MB"):
        ids_of([part_of(more, len(head), more.size)])


async def test_a_file_that_became_smaller_is_not_taken_for_its_end(tmp_path):
    file = local(tmp_path / "dump.xml", dump(NUMBERS))
    size = file.size
    os.truncate(file.name, 2000)
    with pytest.raises(BadSource, match="smaller"):
        await DumpPart.read(file, 1000, size)


async def test_a_part_is_given_three_times_as_many_bytes_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.parts.MOST_HELD", 2500)
    file = local(tmp_path / "dump.xml", dump(NUMBERS))
    part = replace(part_of(file, 100, 500, beyond=0), file=file)
    sizes = []
    while part is not None:
        sizes.append(len(part.held.data))
        part = await part.renewed("more")
    assert sizes == [400, 1200, 2500]


def test_what_is_taken_of_a_part(tmp_path):
    file = local(tmp_path / "dump.xml", dump(range(1, 10)))
    # The first of the articles 1 to 9 has the number 0, and there is none with the number 80.
    cases = (({0, 1, 2}, [1, 2, 3]), ({4, 0}, [1, 5]), ({8, 80}, [9]), ((), []))
    for numbers, held_out in cases:
        drawn = frozenset(numbers)
        assert ids_of([part_of(file, 0, file.size, held_out=drawn, is_place=True)]) == held_out
        others = [number for number in range(1, 10) if number not in held_out]
        assert ids_of([part_of(file, 0, file.size, held_out=drawn)]) == others


def test_articles_are_held_out_in_no_regular_order():
    places = 54
    each = 20
    schedule = Schedule.of_sizes(1, [places * 2**20])
    schedule = msgspec.structs.replace(schedule, each=each, first=200)
    drawn = [sorted(schedule.held_out(place)) for place in schedule.places]
    assert {len(numbers) for numbers in drawn} == {each}
    by_remainder = Counter(number % 5 for numbers in drawn for number in numbers)
    assert min(by_remainder.values()) > 0.8 * places * each / 5
    assert len(set(map(tuple, drawn))) == places


def test_nothing_of_a_part_stays_in_memory(tmp_path):
    def readers(collect=False):
        if collect:
            gc.collect()
        return [found for found in gc.get_objects() if isinstance(found, DumpReader)]

    (part,) = parts_in(local(tmp_path / "d.bz2", multistream(NUMBERS)))
    until(lambda: not readers(collect=True))  # of a thread that another test has left behind
    gc.disable()  # it may come late: what is left for it piles up
    try:
        assert ids_of([part]) == list(NUMBERS)
        next(part.pages(INFO))
        assert not readers()
    finally:
        gc.enable()


def test_a_damaged_block_ends_its_part_alone(tmp_path):
    data = bytearray(multistream(NUMBERS))
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(40)
    found = []
    damaged = 0
    for part in parts_in(local(tmp_path / "damaged.bz2", bytes(data)), 500):
        try:
            for article in part.pages(INFO):
                found.append(article.page_id)
        except CutOff:
            damaged += 1
    assert 0 < damaged <= 2
    assert set(NUMBERS) - set(found) < set(range(40, 80))


def test_what_looks_like_a_mark_is_no_block_and_only_a_streams_end_may_hold_none():
    marks = io.BytesIO(bytes.fromhex("314159265359") * 100)
    with pytest.raises(CutOff):
        [list(block) for _, block in bzip2_blocks(marks.read, 0)]
    assert list(bzip2_blocks(io.BytesIO(bytes(16)).read, 900)) == []
    with pytest.raises(CutOff, match="damaged"):
        list(bzip2_blocks(io.BytesIO(bytes(17)).read, 900))


async def opened(tmp_path, numbers, held_out=None, seed=0, schedule=None):
    path = write(tmp_path / "dump.bz2", multistream(numbers, every=3))
    known = {"schedule": schedule} if schedule else {}
    source = LocalDump({"dump": [path], **known}, Asked({}, seed=seed, held_out=held_out))
    return source, await source.open()


async def stream(source):
    """The page ids in the order in which they are trained on."""
    ordered = []
    async for stretch in source.batches(None):
        ids = [ids_of([await make()]) for make in stretch.jobs]
        flat = list(itertools.chain(*ids))
        ordered += [flat[place] for place in stretch.order(ids)]
    return ordered


async def test_every_article_once_in_an_order_of_the_seed(tmp_path):
    source, info = await opened(tmp_path, range(1, 601))
    first = await stream(source)
    assert sorted(first) == list(range(1, 601))
    again, _ = await opened(tmp_path, range(1, 601), schedule=info.identity["schedule"])
    assert await stream(again) == first
    other, _ = await opened(tmp_path, range(1, 601), seed=1)
    assert await stream(other) != first
    behind_held_out = first[70:]
    distances = [abs(a - b) for a, b in itertools.pairwise(behind_held_out)]
    far = [distance for distance in distances if distance > 30]
    assert len(far) > len(behind_held_out) / 2


@pytest.mark.parametrize("held_out", [None, 0, 7, 60, 400])
async def test_what_comes_first_is_from_all_over_the_dump(tmp_path, held_out):
    source, info = await opened(tmp_path, range(1, 601), held_out)
    wanted = 60 if held_out is None else held_out
    first = (await stream(source))[:wanted]
    assert info.articles == 600
    assert len(first) == wanted
    if wanted:
        gaps = [b - a for a, b in itertools.pairwise([0, *sorted(first), 601])]
        assert max(gaps) < 4 * 600 / min(wanted, 50)


@pytest.mark.parametrize(
    ("sizes", "parts", "together"),
    [
        ([100], 1, 16),
        ([10**6], 1, 16),
        ([3 * 10**8], 6, 3),
        ([25 * 10**9], 16, 1),
        ([10**9, 0, 7, 3 * 10**8], 16, 1),
    ],
)
def test_each_part_is_in_one_round_and_rounds_are_alike(sizes, parts, together):
    schedule = Schedule.of_sizes(5, sizes)
    assert (schedule.parts, schedule.together) == (parts, together)
    rounds = [list(schedule.parts_of(number)) for number in range(schedule.rounds)]
    every = list(itertools.chain(*rounds))
    assert len(set(every)) == len(every) == len(schedule.chunks) * parts
    covered = sorted((chunk.file, *schedule.bounds(chunk, part)) for chunk, part in every)
    for file, size in enumerate(sizes):
        starts = [start for number, start, _ in covered if number == file]
        stops = [stop for number, _, stop in covered if number == file]
        if size == 0:
            assert starts == []
            continue
        assert starts == [0, *stops[:-1]], "without gaps"
        assert stops[-1] == size
    assert max(map(len, rounds)) <= 2 * min(map(len, rounds))
    assert all(len({chunk for chunk, _ in each}) == len(each) for each in rounds)
    for number, each in enumerate(rounds[:21]):
        later = list(itertools.chain(*rounds[number:]))
        for chunk, part in each:
            read = [
                later_part
                for later_chunk, later_part in later
                if later_chunk == chunk and later_part >= part
            ]
            assert read[-1] == schedule.last_part(number, part)


def test_articles_are_held_out_in_many_places():
    for size in (10**6, 10**8, 10**11):
        places = Schedule.of_sizes(0, [size]).places
        assert len(places) == 54
        starts = sorted(chunk.start for chunk in places)
        assert max(b - a for a, b in itertools.pairwise(starts)) < 2 * size / len(places)
    assert Schedule.of_sizes(0, [1 << 44] * 2).rounds < 600_000, (
        "of the largest dump that a server may state"
    )
    assert spread(100, 5) == [10, 30, 50, 70, 90]
    assert spread(3, 50) == [0, 1, 2]


@pytest.fixture
def parts_read(monkeypatch):
    """The parts whose pages were read."""
    read = []
    real_pages = DumpPart.pages

    def pages(part, info):
        read.append(part)
        return real_pages(part, info)

    monkeypatch.setattr(DumpPart, "pages", pages)
    return read


@pytest.mark.parametrize(("articles", "places"), [(1003, 8), (1000, 54)])
async def test_a_large_dump_is_looked_at_in_some_places(
    tmp_path,
    monkeypatch,
    parts_read,
    articles,
    places,
):
    """Only if these have enough articles: here one dump has 100 in them, the other 99."""
    for name, size in {
        "shuffled.CHUNK": 3600,
        "shuffled.SMALLEST": 3600,
        "shuffled._SMALL": 1000,
    }.items():
        monkeypatch.setattr(f"wikitopics.crawler.dumps.{name}", size)
    file = local(tmp_path / "dump.xml", dump(range(1, articles + 1)))
    schedule = await survey([file], Schedule.of_sizes(0, [file.size]), INFO, None)
    assert len({part.held.start for part in parts_read}) == places
    assert schedule.articles == pytest.approx(articles, rel=0.1)


async def test_a_large_dump_without_articles_is_not_read_through(tmp_path, monkeypatch, parts_read):
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled.PLACES", 10)
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled.CHUNK", 1024)
    data = (HEAD + "".join(page(number, ns=1) for number in range(300)) + FOOT).encode()
    file = local(tmp_path / "talk.xml", data)
    schedule = await survey([file], Schedule.of_sizes(0, [file.size]), INFO, None)
    assert (schedule.articles, schedule.each) == (0, 0)
    assert len({part.held.start for part in parts_read}) == 10 < len(schedule.chunks)


NOT_NUMBERS = {
    "seed": ["1"],
    "chunk": [0],
    "each": [-1],
    "first": [-1],
    "x": [1],
    "parts": [0, 1 << 40],
    "together": [0],
    "sizes": [[1, 2], 3, [1 << 40]],
}


@pytest.mark.parametrize(("key", "values"), NOT_NUMBERS.items())
def test_a_schedule_that_is_none_is_refused(key, values):
    stored = {
        "seed": 0,
        "sizes": [5],
        "chunk": 1024,
        "parts": 1,
        "together": 1,
        "n_places": 1,
        "each": 1,
        "first": 1,
        "articles": 10,
    }
    assert Schedule.fault(stored, 1) == ""
    assert all(Schedule.fault(stored | {key: value}, 1) for value in values)
    assert Schedule.fault({name: stored[name] for name in ("seed", "sizes")}, 1)


@pytest.mark.parametrize("name", FILES)
def test_a_part_reads_the_same_from_bytes_brought_along(tmp_path, name):
    file = local(tmp_path / name, FILES[name](dump(NUMBERS)))
    parts = parts_in(file, 1000)
    assert len(parts) > 1
    for part in parts:
        for beyond in itertools.count(0, 500):
            held = part_of(file, part.held.start, part.stop, beyond)
            with suppress(Lacking):
                assert ids_of([held]) == ids_of([part])
                break
        assert ids_of([pickle.loads(pickle.dumps(held))]) == ids_of([part])
