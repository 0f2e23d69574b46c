"""What a cluster's workers send back: counts, or it goes no further."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from wikitopics.crawler.source import Page, SourceInfo
from wikitopics.session.errors import Damaged
from wikitopics.session.training.intake.cluster.answers import fields_of, pack, unpack
from wikitopics.session.training.intake.jobs import (
    CountedJob,
    count_in_worker,
    count_job,
    count_pages,
    pages_of_job,
)
from wikitopics.vocab import Vocabulary

VOCABULARY = Vocabulary.from_words(("a", "b", "c"))
PAGES = (
    Page(1, "One", 11, "a b c a", "text"),
    Page(2, "Two é", 12, "nothing known", "text"),
    Page(3, "Three", 13, "c c", "wikitext"),
)
COUNTED = count_pages(PAGES, VOCABULARY, SourceInfo("", None))
PART = CountedJob(replace(COUNTED, skips={"redirect": 2}, warnings=("it ends early",)), "", "more")


def read(fn, data, args=()):
    return unpack(fn, args, data, fields_of(data), len(VOCABULARY))


def test_what_was_counted_comes_through_as_it_was():
    named = tuple(replace(page, id=f"id {page.page_id}") for page in PAGES)
    for pages in (PAGES, named):
        counted = count_pages(pages, VOCABULARY, SourceInfo("", None))
        assert read(count_in_worker, pack(counted, {}), (pages,)).to_bytes() == counted.to_bytes()
    part = read(count_job, pack(PART, {}))
    assert part.block.to_bytes() == COUNTED.to_bytes()
    assert (part.block.skips, part.block.warnings) == ({"redirect": 2}, PART.block.warnings)
    assert (part.fault, part.lack) == ("", "more")
    pages, rest = read(pages_of_job, pack((PAGES, PART), {}))
    assert pages == PAGES
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
        read(count_job, pack(CountedJob(documents), {}))


def test_counts_of_other_pages_are_refused():
    with pytest.raises(Damaged, match="other pages"):
        read(count_in_worker, pack(COUNTED, {}), (PAGES[::-1],))
    with pytest.raises(Damaged):
        read(count_in_worker, pack(COUNTED, {}), (PAGES[:2],))


@pytest.mark.parametrize(
    "wrong",
    [
        {"skips": {"whim": 1}},
        {"skips": {"redirect": -1}},
        {"warnings": ["one"] * 2},
        {"warnings": None},
        {"fault": 3},
        {"lack": "much"},
    ],
    ids=str,
)
def test_what_cannot_be_said_of_a_part_is_refused(wrong):
    head, _, counts = pack(PART, {}).partition(b"\n")
    with pytest.raises(Damaged):
        read(count_job, json.dumps(json.loads(head) | wrong).encode() + b"\n" + counts)


def test_escape_codes_do_not_reach_a_terminal():
    part = CountedJob(replace(COUNTED, warnings=("\x1b[31mred",)), "\x1b]0;title\x07")
    found = read(count_job, pack(part, {}))
    assert (found.block.warnings, found.fault) == ((r"\x1b[31mred",), r"\x1b]0;title\x07")


def test_damaged_bytes_are_refused_or_read_as_counts():
    rng = random.Random(4)
    whole, refused = pack(PART, {}), 0
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            part = read(count_job, bytes(data[: rng.choice([len(data), rng.randrange(len(data))])]))
        except Damaged:
            refused += 1
            continue
        assert isinstance(part, CountedJob)
    assert 0 < refused < 300
    for other in (None, 7, [1], b""):
        with pytest.raises(Damaged):
            read(count_job, other)
