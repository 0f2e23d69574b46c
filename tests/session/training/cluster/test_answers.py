"""What a cluster's workers send back: counts, or it goes no further."""

import pickle
import random
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from unittest.mock import Mock

import msgspec
import numpy as np
import pytest

from wikitopics.crawler.dumps.containers import HeldFile
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.source import FetchedPages
from wikitopics.session.errors import Damaged
from wikitopics.session.training.jobs import CountedJob, count_job, count_pages, pages_of_job
from wikitopics.vocab import Vocabulary

pytest.importorskip("distributed")
from wikitopics.session.training import cluster
from wikitopics.session.training.cluster import Answer

VOCABULARY = Vocabulary.from_words(("a", "b", "c"))
PAGES = Page(1, "One", 11, "a b c a", "text"), Page(2, "Two é", 12, "nothing known", "text")
PAGES += (Page(3, "Three", 13, "c c", "wikitext"),)
COUNTED = count_pages(PAGES, VOCABULARY, SourceInfo("", None))
PART = CountedJob(replace(COUNTED, skips={"redirect": 2}, warnings=("it ends early",)), "", "more")


JOB = DumpPart(HeldFile("dump", 9, b"", 0, b""), 9)


def packed(found):
    return msgspec.msgpack.encode(Answer.of(found, {}))


def read(data, fn=count_job, job=JOB):
    """What a job comes to from an answer."""
    return Answer.read(data).result(fn, job, len(VOCABULARY))


def test_what_was_counted_comes_through_as_it_was():
    named = tuple(replace(page, id=f"id {page.page_id}") for page in PAGES)
    for pages in (PAGES, named):
        counted = count_pages(pages, VOCABULARY, SourceInfo("", None))
        answer = read(packed(CountedJob(counted)), job=FetchedPages(pages))
        assert answer.block.to_bytes() == counted.to_bytes()
    part = read(packed(PART))
    assert part.block.to_bytes() == COUNTED.to_bytes()
    assert (part.block.skips, part.block.warnings) == ({"redirect": 2}, PART.block.warnings)
    assert (part.fault, part.lack) == ("", "more")
    rest = replace(PART, block=replace(COUNTED[:0], skips={"redirect": 2}))
    rest = read(packed(replace(rest, pages=PAGES)), pages_of_job)
    assert rest.pages == PAGES
    assert (rest.block.skips, len(rest.block)) == ({"redirect": 2}, 0)


@pytest.mark.parametrize(
    "documents",
    [
        replace(COUNTED, word_ids=np.array([0, 1, 3, 2], np.int32)),
        replace(COUNTED, word_ids=np.array([0, 0, 2, 2], np.int32)),
        replace(COUNTED, counts=np.array([2, 0, 1, 2], np.int32)),
        replace(COUNTED, titles=("One", "Two é", "T" * 256)),
    ],
    ids=["no such word", "a word twice", "zero times", "a long title"],
)
def test_what_is_no_count_is_refused(documents):
    with pytest.raises(Damaged):
        read(packed(CountedJob(documents)))


def test_counts_of_other_pages_are_refused():
    for pages in (PAGES[::-1], PAGES[:2]):
        with pytest.raises(Damaged, match="other pages"):
            read(packed(CountedJob(COUNTED)), job=FetchedPages(pages))


@pytest.mark.parametrize(
    "wrong",
    [
        {"skips": {"whim": 1}},
        {"skips": {"redirect": -1}},
        {"warnings": ["one"] * 2},
        {"warnings": None},
        {"warnings": ["w" * 65_537]},
        {"fault": 3},
        {"lack": "much"},
        {"pages": [[1, "One", 11, "text", "prose", None]]},
        {"versions": None},
    ],
    ids=str,
)
def test_what_cannot_be_said_of_a_part_is_refused(wrong):
    with pytest.raises(Damaged):
        read(msgspec.msgpack.encode(msgspec.msgpack.decode(packed(PART)) | wrong))


def test_a_page_that_is_too_large_is_refused():
    pages = (Page(1, "One", 11, "é" * (1 << 20), "text"),)
    assert read(packed(CountedJob(COUNTED[:0], pages=pages)), pages_of_job).pages == pages
    odd = (
        {"text": "é" * 2**20 + "e"},
        {"id": "i" * 65_537},
        {"page_id": 2**63},
        {"revision_id": 2**64 - 1},
    )
    for wrong in odd:
        answer = packed(CountedJob(COUNTED[:0], pages=(replace(*pages, **wrong),)))
        with pytest.raises(Damaged, match=r"too large|out of range"):
            read(answer, pages_of_job)


def test_escape_codes_do_not_reach_a_terminal():
    part = CountedJob(replace(COUNTED, warnings=("\x1b[31mred",)), "\x1b]0;title\x07")
    found = read(packed(part))
    assert (found.block.warnings, found.fault) == ((r"\x1b[31mred",), r"\x1b]0;title\x07")


def test_damaged_bytes_are_refused_or_read_as_counts():
    rng = random.Random(4)
    whole = packed(PART)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            part = read(bytes(data[: rng.choice([len(data), rng.randrange(len(data))])]))
        except Damaged:
            refused += 1
            continue
        assert isinstance(part, CountedJob)
    assert 0 < refused < 300
    for other in (None, 7, [1], b""):
        with pytest.raises(Damaged):
            read(other)


def test_a_worker_whose_job_begins_is_not_idle(monkeypatch):
    """However long it takes; once it is idle, its processes end."""
    monkeypatch.setattr(cluster, "IDLE_SECONDS", 0.05)
    started, go_on, ended = (threading.Event() for _ in range(3))

    def submit(*_):
        started.set()
        go_on.wait(60)
        result = Future()
        result.set_result(PART)
        return result

    workers = Mock(submit=submit, shutdown=lambda wait: ended.set())
    counting = Mock(versions={}, used=time.monotonic(), workers=workers)
    monkeypatch.setattr(cluster, "_Counting", lambda *_: counting)
    initial = pickle.dumps(((), None))
    job = np.frombuffer(pickle.dumps((count_job, JOB)), np.uint8)
    asking = threading.Thread(target=cluster.answer, args=(initial, job))
    asking.start()
    assert started.wait(60)
    assert not ended.wait(0.3)
    go_on.set()
    asking.join()
    assert ended.wait(60)
    assert initial not in cluster._counting
