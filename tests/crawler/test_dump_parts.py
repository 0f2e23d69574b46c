"""A dump read in parts: every page once, wherever the parts and what is compressed in the file are cut."""

import bz2
import gc
import gzip
import io
import itertools
import lzma
import os
import pickle
from contextlib import suppress

import pytest
import zstandard

from tests.crawler.dumps import FOOT, HEAD, dump, multistream, page, write
from tests.waiting import until
from wikitopics.crawler.dumps.containers import LocalFile, bzip2_blocks
from wikitopics.crawler.dumps.parts import (
    DumpPart,
    Order,
    _count_some,
    can_be_parted,
    part_size,
    parts_of,
    rounds,
    spread,
    survey,
    windows_and_lanes,
)
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.source import BadSource, CutOff, Lacking, Page, SourceInfo

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
    "pzstd.zst": pieces(lambda data: b"\x50\x2a\x4d\x18\4\0\0\0size" + zstandard.compress(data), 4001),
}


def local(path, data):
    return LocalFile(write(path, data))


def parts_in(file, size=1 << 20):
    """A file's parts of so many bytes."""
    return parts_of([file], [file.size], size)


def ids_of(parts):
    return [page.page_id for part in parts for page in part.pages(INFO) if isinstance(page, Page)]


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
    assert [ids_of([part]) for part in parts].count([]) < len(parts) - 2
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
    monkeypatch.setattr("wikitopics.crawler.dumps.parts._MOST_ARTICLES", 100)
    (whole,) = parts_in(local(tmp_path / "dump.xml", dump(NUMBERS)))
    pages = whole.pages(INFO)
    assert [page.page_id for page in itertools.islice(pages, 100)] == list(range(1, 101))
    with pytest.raises(CutOff, match="over 100 articles"):
        next(pages)


def test_a_part_that_unpacks_to_more_than_any_real_one_ends_there(tmp_path):
    head, frame, little = map(zstandard.compress, (dump(NUMBERS), b" " * (1 << 20), b" "))
    most = local(tmp_path / "most.zst", head + frame * 256)
    assert ids_of([DumpPart(most, len(head), most.size)]) == []
    more = local(tmp_path / "more.zst", head + frame * 256 + little)
    with pytest.raises(CutOff, match="over 256 MB"):
        ids_of([DumpPart(more, len(head), more.size)])


def test_a_file_that_became_smaller_is_not_taken_for_its_end(tmp_path):
    file = local(tmp_path / "dump.xml", dump(NUMBERS))
    last = parts_in(file, 1000)[-1]
    os.truncate(file.name, 2000)
    with pytest.raises(BadSource, match="smaller"):
        ids_of([last])


def test_what_is_taken_of_a_part(tmp_path):
    file = local(tmp_path / "dump.xml", dump(range(1, 10)))
    assert ids_of([DumpPart(file, 0, file.size, last=3)]) == [1, 2, 3]
    assert ids_of([DumpPart(file, 0, file.size, first=3)]) == [4, 5, 6, 7, 8, 9]


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
    found, damaged = [], 0
    for part in parts_in(local(tmp_path / "damaged.bz2", bytes(data)), 500):
        try:
            for one in part.pages(INFO):
                found.append(one.page_id)
        except CutOff:
            damaged += 1
    assert 0 < damaged <= 2
    assert set(NUMBERS) - set(found) < set(range(40, 80))


def test_what_looks_like_a_mark_is_no_block():
    with pytest.raises(CutOff):
        [list(block) for _, block in bzip2_blocks(io.BytesIO(bytes.fromhex("314159265359") * 100).read, 0)]


def test_only_the_end_of_a_stream_may_hold_no_mark():
    assert list(bzip2_blocks(io.BytesIO(bytes(16)).read, 900)) == []
    with pytest.raises(CutOff, match="damaged"):
        list(bzip2_blocks(io.BytesIO(bytes(17)).read, 900))


def order_of(tmp_path, numbers, held_out=None, seed=0):
    file = local(tmp_path / "dump.bz2", multistream(numbers, every=3))
    return file, survey([file], [file.size], INFO, seed, held_out)


def stream(file, order):
    """The page ids in the order in which they are trained on."""
    found = []
    for each in rounds(order, [file]):
        ids = [ids_of([part]) for part in each.parts]
        flat = [number for part in ids for number in part]
        found += [flat[i] for i in each.order(ids)]
    return found


def test_every_article_once_in_an_order_of_the_seed(tmp_path):
    file, order = order_of(tmp_path, range(1, 601))
    first = stream(file, order)
    assert sorted(first) == list(range(1, 601))
    assert first == stream(file, Order(**vars(order)))
    _, other = order_of(tmp_path, range(1, 601), seed=1)
    assert stream(file, other) != first
    behind = first[70:]
    assert sum(abs(a - b) > 30 for a, b in itertools.pairwise(behind)) > len(behind) / 2


@pytest.mark.parametrize("held_out", [None, 0, 7, 60, 400])
def test_what_comes_first_is_from_all_over_the_dump(tmp_path, held_out):
    file, order = order_of(tmp_path, range(1, 601), held_out)
    wanted = 60 if held_out is None else held_out
    first = stream(file, order)[:wanted]
    assert order.articles == 600
    assert len(first) == wanted
    if wanted:
        gaps = [b - a for a, b in itertools.pairwise([0, *sorted(first), 601])]
        assert max(gaps) < 4 * 600 / min(wanted, 50)


def test_a_large_dump_is_looked_at_in_some_places_only(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.parts.LARGEST", 500)
    monkeypatch.setattr("wikitopics.crawler.dumps.parts.SMALLEST", 500)
    seen = []
    pages = DumpPart.pages
    monkeypatch.setattr(DumpPart, "pages", lambda part, info: seen.append(part) or pages(part, info))
    _, order = order_of(tmp_path, range(1, 3001), held_out=50)
    n = -(-order.sizes[0] // order.part)
    assert n > 200
    assert 0 < len({part.start for part in seen}) < n / 2
    assert 0.5 < order.articles / 3000 < 2


def test_a_large_dump_without_articles_is_not_read_through(tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.parts._MOST_SAMPLED", 10)
    data = (HEAD + "".join(page(number, ns=1) for number in range(300)) + FOOT).encode()
    file = local(tmp_path / "talk.xml", data)
    parts = parts_in(file, part_size([file.size]))
    assert survey([file], [file.size], INFO, 0, None).articles == 0
    assert len(_count_some(parts, INFO)) == 10 < len(parts)


def test_places_are_spread_evenly():
    assert spread(100, 5) == [10, 30, 50, 70, 90]
    assert spread(3, 50) == [0, 1, 2]
    assert windows_and_lanes(64) == (1, 16)
    assert windows_and_lanes(70) == (1, 14)
    assert windows_and_lanes(25 * 1000) == (25, 16)
    assert part_size([5, 5]) < part_size([10**9]) == part_size([10**9, 10**9]) < part_size([10**13])


NOT_NUMBERS = {"seed": ["1"], "part": [0], "each": [-1], "x": [1], "window": [0, 1 << 40], "lanes": [0]}


@pytest.mark.parametrize(("key", "values"), [*NOT_NUMBERS.items(), ("sizes", [[1, 2], 3, [1 << 40]])])
def test_an_order_that_is_none_is_refused(key, values):
    kept = vars(Order(0, 1024, [5], 50, 1, 10, 1, 1))
    assert Order.fault(kept, 1) == ""
    assert all(Order.fault(kept | {key: value}, 1) for value in values)


@pytest.mark.parametrize("name", FILES)
def test_a_part_reads_the_same_from_bytes_brought_along(tmp_path, name):
    parts = parts_in(local(tmp_path / name, FILES[name](dump(NUMBERS))), 1000)
    assert len(parts) > 1
    for part in parts:
        for behind in itertools.count(0, 500):
            held = part.held(part.stop + behind)
            with suppress(Lacking):
                assert ids_of([held]) == ids_of([part])
                break
        assert ids_of([pickle.loads(pickle.dumps(held))]) == ids_of([part])
