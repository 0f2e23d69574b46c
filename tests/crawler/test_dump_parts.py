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
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace

import msgspec
import pytest
import zstandard

from tests.crawler.dumps import HEAD, INFO, dump, dump_of, in_pieces, multistream, page, write
from tests.waiting import until
from wikitopics.crawler.dumps.bzip2 import bzip2_blocks
from wikitopics.crawler.dumps.containers import HEAD as HEAD_BYTES
from wikitopics.crawler.dumps.containers import HeldFile, LocalFile, can_be_parted
from wikitopics.crawler.dumps.elements import Elements
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.dumps.schedule import Schedule
from wikitopics.crawler.dumps.shuffled import LocalDump, survey
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff, Lacking
from wikitopics.crawler.page import Page
from wikitopics.crawler.rounds import spread
from wikitopics.crawler.source import Asked

NUMBERS = range(1, 121)


def pzstd(data):
    """A frame as pzstd writes it: behind another one that tells its size."""
    return b"\x50\x2a\x4d\x18\4\0\0\0size" + zstandard.compress(data)


def in_frames(compress, size):
    """A function that compresses each piece of so many bytes for itself, wherever that cuts."""
    return lambda data: b"".join(map(compress, in_pieces(data, size)))


FILES = {
    "plain": lambda data: data,
    "pieces.bz2": in_frames(bz2.compress, 999),
    "frames.gz": in_frames(gzip.compress, 4001),
    "frames.xz": in_frames(lzma.compress, 4001),
    "frames.zst": in_frames(zstandard.compress, 4001),
    "pzstd.zst": in_frames(pzstd, 4001),
}
"""What makes a file of a dump, by its name."""


def local(path, data):
    return LocalFile(write(path, data))


def part_of(file, start, stop, beyond=1 << 30, **options):
    """A part of a file that holds its own bytes and so many beyond them."""
    held_to = min(stop + beyond, file.size)
    head = file.read(0, HEAD_BYTES)
    held = HeldFile(file.name, file.size, head, start, file.read(start, held_to))
    return DumpPart(held, stop, **options)


def parts_in(file, size=1 << 20):
    """A file's parts of so many bytes."""
    parts = []
    for start in range(0, file.size, size):
        stop = min(start + size, file.size)
        parts.append(part_of(file, start, stop))
    return parts


def ids_of(parts):
    """The ids of the pages of parts; pages that are skipped have none."""
    found = itertools.chain.from_iterable(part.pages(INFO) for part in parts)
    return [page.page_id for page in found if isinstance(page, Page)]


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
    file = local(tmp_path / "single.bz2", bz2.compress(dump_of(pages), 1))
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


@pytest.mark.parametrize(("n_marks", "parted"), [(900, True), (1100, False)])
def test_a_frame_is_sought_behind_at_most_1000_marks_that_begin_none(tmp_path, n_marks, parted):
    frame = gzip.compress(dump(NUMBERS))
    begins_no_frame = b"\x1f\x8b\x08"
    file = local(tmp_path / "d.gz", frame + begins_no_frame * n_marks + frame)
    assert can_be_parted(file) == parted
    (part,) = parts_in(file)
    with pytest.raises(CutOff):
        ids_of([part])


def test_a_part_with_more_articles_than_any_real_one_ends_there(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.parts.MOST_ARTICLES", 100)
    (whole,) = parts_in(local(tmp_path / "dump.xml", dump(NUMBERS)))
    pages = whole.pages(INFO)
    first_100 = [page.page_id for page in itertools.islice(pages, 100)]
    assert first_100 == list(range(1, 101))
    with pytest.raises(CutOff, match="over 100 articles"):
        next(pages)


def test_a_part_that_unpacks_to_more_than_any_real_one_ends_there(tmp_path):
    begin = zstandard.compress(dump(NUMBERS))
    frame_of_1_mb = zstandard.compress(b" " * (1 << 20))
    frame_of_a_byte = zstandard.compress(b" ")
    most = local(tmp_path / "most.zst", begin + frame_of_1_mb * 256)
    assert ids_of([part_of(most, len(begin), most.size)]) == []
    more = local(tmp_path / "more.zst", begin + frame_of_1_mb * 256 + frame_of_a_byte)
    with pytest.raises(CutOff, match="over 256 MB"):
        ids_of([part_of(more, len(begin), more.size)])


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


@pytest.mark.parametrize(
    ("drawn", "held_out"),
    [({0, 1, 2}, [1, 2, 3]), ({4, 0}, [1, 5]), ({8, 80}, [9]), (set(), [])],
)
def test_a_part_gives_either_the_articles_held_out_or_the_others(tmp_path, drawn, held_out):
    """Articles are drawn by their number in the part, from 0."""
    file = local(tmp_path / "dump.xml", dump(range(1, 10)))
    drawn = frozenset(drawn)
    assert ids_of([part_of(file, 0, file.size, held_out=drawn, is_place=True)]) == held_out
    others = [number for number in range(1, 10) if number not in held_out]
    assert ids_of([part_of(file, 0, file.size, held_out=drawn)]) == others


def test_articles_are_held_out_in_no_regular_order():
    n_places = 54
    each = 20
    usual = Schedule.of_sizes(1, [n_places * 2**20])
    schedule = msgspec.structs.replace(usual, each=each, first=200)
    drawn = [sorted(schedule.held_out(place)) for place in schedule.places]
    assert {len(numbers) for numbers in drawn} == {each}
    # If every fifth article were taken, all numbers of a place would leave the same remainder.
    remainders = Counter(number % 5 for number in itertools.chain.from_iterable(drawn))
    assert min(remainders.values()) > 0.8 * n_places * each / 5
    different = set(map(tuple, drawn))
    assert len(different) == n_places


def test_nothing_of_a_part_stays_in_memory(tmp_path):
    def readers():
        return [found for found in gc.get_objects() if isinstance(found, DumpReader | Elements)]

    def no_readers_after_collecting():
        gc.collect()
        return not readers()

    (part,) = parts_in(local(tmp_path / "d.bz2", multistream(NUMBERS)))
    until(no_readers_after_collecting)  # those of a thread that another test has left behind
    # Nothing may be left to the collector: it may come late, and until then readers pile up.
    gc.disable()
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
    n_damaged = 0
    for part in parts_in(local(tmp_path / "damaged.bz2", bytes(data)), 500):
        try:
            for page_of_part in part.pages(INFO):
                found.append(page_of_part.page_id)
        except CutOff:
            n_damaged += 1
    assert 0 < n_damaged <= 2
    assert set(NUMBERS) - set(found) < set(range(40, 80))


def test_what_looks_like_the_mark_of_a_block_begins_none():
    mark = bytes.fromhex("314159265359")
    blocks = (block for _, block in bzip2_blocks(io.BytesIO(mark * 100).read, 0))
    with pytest.raises(CutOff):
        list(map(list, blocks))


def test_only_the_end_of_a_stream_may_be_without_a_block():
    """The end of a stream of bzip2 has at most 16 bytes."""
    assert list(bzip2_blocks(io.BytesIO(bytes(16)).read, 900)) == []
    with pytest.raises(CutOff, match="damaged"):
        list(bzip2_blocks(io.BytesIO(bytes(17)).read, 900))


async def opened(tmp_path, numbers, held_out=None, seed=0, schedule=None):
    """(source, its SourceInfo) of a dump of these pages; ``schedule`` as a session keeps it."""
    path = write(tmp_path / "dump.bz2", multistream(numbers, every=3))
    kept = {"dump": [path]}
    if schedule is not None:
        kept["schedule"] = schedule
    source = LocalDump(kept, Asked({}, seed=seed, held_out=held_out))
    return source, await source.open()


async def stream(source):
    """The page ids in the order in which they are trained on."""
    trained = []
    async for stretch in source.batches(None):
        ids_of_parts = [ids_of([await make_part()]) for make_part in stretch.jobs]
        as_read = list(itertools.chain.from_iterable(ids_of_parts))
        trained += [as_read[place] for place in stretch.order(ids_of_parts)]
    return trained


async def test_every_article_once_in_an_order_of_the_seed(tmp_path):
    source, info = await opened(tmp_path, range(1, 601))
    first = await stream(source)
    assert sorted(first) == list(range(1, 601))
    again, _ = await opened(tmp_path, range(1, 601), schedule=info.identity["schedule"])
    assert await stream(again) == first
    other, _ = await opened(tmp_path, range(1, 601), seed=1)
    assert await stream(other) != first
    behind_the_held_out = first[70:]
    neighbours = list(itertools.pairwise(behind_the_held_out))
    far_apart = [pair for pair in neighbours if abs(pair[0] - pair[1]) > 30]
    assert len(far_apart) > len(neighbours) / 2


@pytest.mark.parametrize("held_out", [None, 0, 7, 60, 400])
async def test_what_comes_first_is_from_all_over_the_dump(tmp_path, held_out):
    source, info = await opened(tmp_path, range(1, 601), held_out)
    n_held_out = 60 if held_out is None else held_out
    trained = await stream(source)
    first = trained[:n_held_out]
    assert info.articles == 600
    assert len(first) == n_held_out
    if n_held_out:
        in_order = [0, *sorted(first), 601]
        gaps = [later - earlier for earlier, later in itertools.pairwise(in_order)]
        n_places = min(n_held_out, 50)
        assert max(gaps) < 4 * 600 / n_places


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
    of_all_rounds = list(itertools.chain.from_iterable(rounds))
    assert len(of_all_rounds) == len(schedule.chunks) * parts
    assert len(set(of_all_rounds)) == len(of_all_rounds), "each part once"
    bounds_in_files = defaultdict(list)
    for chunk, part in of_all_rounds:
        bounds_in_files[chunk.file].append(schedule.bounds(chunk, part))
    for file, size in enumerate(sizes):
        place = 0
        for start, stop in sorted(bounds_in_files[file]):
            assert start == place, "each part begins where the one before it ends"
            place = stop
        assert place == size
    lengths = [len(parts_of_round) for parts_of_round in rounds]
    assert max(lengths) <= 2 * min(lengths)
    for parts_of_round in rounds:
        chunks = {chunk for chunk, _ in parts_of_round}
        assert len(chunks) == len(parts_of_round), "a round has one part of each chunk"
    for number, parts_of_round in enumerate(rounds[:21]):
        from_then_on = list(itertools.chain.from_iterable(rounds[number:]))
        for chunk, part in parts_of_round:
            parts_behind = [other for of, other in from_then_on if of == chunk and other >= part]
            assert schedule.last_part(number, part) == parts_behind[-1]


def test_articles_are_held_out_in_many_places():
    for size in (10**6, 10**8, 10**11):
        places = Schedule.of_sizes(0, [size]).places
        assert len(places) == 54
        starts = sorted(chunk.start for chunk in places)
        gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
        assert max(gaps) < 2 * size / len(places)


def test_places_are_spread_evenly():
    assert spread(100, 5) == [10, 30, 50, 70, 90]
    assert spread(3, 50) == [0, 1, 2]


def test_the_largest_dump_that_a_server_may_state_has_a_bounded_number_of_rounds():
    two_files = [1 << 44, 1 << 44]
    assert Schedule.of_sizes(0, two_files).rounds < 600_000


@pytest.fixture
def starts_read(monkeypatch):
    """Where the parts begin whose pages were read."""
    starts = set()
    real_pages = DumpPart.pages

    def pages(part, info):
        starts.add(part.held.start)
        return real_pages(part, info)

    monkeypatch.setattr(DumpPart, "pages", pages)
    return starts


@pytest.mark.parametrize(("articles", "n_places"), [(1003, 8), (1000, 54)])
async def test_a_large_dump_is_looked_at_in_some_places(
    tmp_path,
    monkeypatch,
    starts_read,
    articles,
    n_places,
):
    """Few places are enough only if they have 100 articles: here they have 100 in the one dump, 99
    in the other."""
    monkeypatch.setattr("wikitopics.crawler.dumps.schedule.CHUNK", 3600)
    monkeypatch.setattr("wikitopics.crawler.dumps.schedule.SMALLEST", 3600)
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled._SMALL", 1000)
    file = local(tmp_path / "dump.xml", dump(range(1, articles + 1)))
    schedule = await survey([file], Schedule.of_sizes(0, [file.size]), INFO, None)
    assert len(starts_read) == n_places
    assert schedule.articles == pytest.approx(articles, rel=0.1)


async def test_a_large_dump_without_articles_is_not_read_through(
    tmp_path, monkeypatch, starts_read
):
    monkeypatch.setattr("wikitopics.crawler.dumps.schedule.PLACES", 10)
    monkeypatch.setattr("wikitopics.crawler.dumps.schedule.CHUNK", 1024)
    talk_pages = [page(number, ns=1) for number in range(300)]
    file = local(tmp_path / "talk.xml", dump_of(talk_pages))
    schedule = await survey([file], Schedule.of_sizes(0, [file.size]), INFO, None)
    assert (schedule.articles, schedule.each) == (0, 0)
    assert len(starts_read) == 10
    assert len(schedule.chunks) > 10


STORED_SCHEDULE = {
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
WRONG_VALUES = {
    "seed": ["1"],
    "chunk": [0],
    "each": [-1],
    "first": [-1],
    "x": [1],
    "parts": [0, 1 << 40],
    "together": [0],
    "sizes": [[1, 2], 3, [1 << 40]],
}


@pytest.mark.parametrize(("key", "values"), WRONG_VALUES.items())
def test_a_schedule_with_a_wrong_value_is_refused(key, values):
    assert Schedule.fault(STORED_SCHEDULE, 1) == ""
    for value in values:
        assert Schedule.fault(STORED_SCHEDULE | {key: value}, 1)


def test_a_schedule_that_lacks_values_is_refused():
    assert Schedule.fault({"seed": 0, "sizes": [5]}, 1)


@pytest.mark.parametrize("name", FILES)
def test_a_part_reads_the_same_from_bytes_brought_along(tmp_path, name):
    """As many bytes beyond the part are brought along as it turns out to need."""
    file = local(tmp_path / name, FILES[name](dump(NUMBERS)))
    parts = parts_in(file, 1000)
    assert len(parts) > 1
    for part in parts:
        expected = ids_of([part])
        for beyond in itertools.count(0, 500):
            with_little = part_of(file, part.held.start, part.stop, beyond)
            with suppress(Lacking):
                assert ids_of([with_little]) == expected
                break
        in_another_process = pickle.loads(pickle.dumps(with_little))
        assert ids_of([in_another_process]) == expected
