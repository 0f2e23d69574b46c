"""Answers of a cluster's workers as bytes, written there and read here like any hostile input.

An answer is a line of JSON, followed by the word counts in the format in which a session stores them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from wikitopics.crawler.source import LARGEST_TEXT, LONGEST_TITLE, Lack, Markup, Page, Skip, utf8_size
from wikitopics.session.errors import Damaged
from wikitopics.session.escapes import visible
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.decoding import from_json, listed, named, one_of, text, whole
from wikitopics.session.training.intake.jobs import (
    EMPTY,
    CountedJob,
    count_in_worker,
    count_job,
    pages_of_job,
)

PLACE = "an answer of the cluster"
LARGEST = 64 << 20
"""The most bytes of an answer: word counts take 0.1 MB, the texts of a part's pages some 5 MB."""
_PAGE = ("page_id", "title", "revision_id", "text", "markup", "id")

Job = Callable[..., Any]
Fields = Mapping[str, object]


def pack(found: object, fields: Fields) -> bytes:
    """The result of a job, or EMPTY, with more ``fields`` about it."""
    block, told = EMPTY, dict(fields)
    if isinstance(found, Block):
        block = found
    elif isinstance(found, CountedJob):
        block, told = found.block, told | _part_fields(found)
    elif isinstance(found, tuple):  # of pages_of_job
        pages, rest = found
        told |= _part_fields(rest)
        told["pages"] = [[getattr(page, name) for name in _PAGE] for page in pages]
    data = json.dumps(told).encode() + b"\n" + block.to_bytes()
    if len(data) > LARGEST:
        raise ValueError(f"an answer of over {LARGEST >> 20} MB")
    return data


def fields_of(data: object) -> Fields:
    """Everything in an answer except its counts. Raises `Damaged`."""
    head = data.partition(b"\n")[0] if isinstance(data, bytes) and len(data) <= LARGEST else b""
    return named(from_json(head.decode("ascii", "replace"), PLACE, longest=LARGEST), PLACE)


def unpack(fn: Job, args: Sequence[Any], data: bytes, fields: Fields, n_words: int) -> Any:
    """The result of ``fn(*args)`` on the worker. Raises `Damaged` for anything it cannot have returned."""
    if fn is pages_of_job:
        return listed(fields.get("pages"), PLACE, _page), _part(fields, EMPTY)
    block = _block(data.partition(b"\n")[2], n_words)
    if fn is count_job:
        return _part(fields, block)
    assert fn is count_in_worker
    return _of_pages(block, args[0])


def _part_fields(part: CountedJob) -> dict[str, object]:
    block = part.block
    return {"skips": dict(block.skips), "warnings": block.warnings, "fault": part.fault, "lack": part.lack}


def _block(data: bytes, n_words: int) -> Block:
    block = Block.from_bytes(data, PLACE, n_words)
    rises = np.diff(block.word_ids) > 0
    ends = block.indptr[(block.indptr > 0) & (block.indptr < len(block.word_ids))]
    rises[ends - 1] = True
    if not rises.all():
        raise Damaged(f"{PLACE} counts a word twice")
    for title in block.titles:
        _title(title)
    return block


def _of_pages(block: Block, pages: Sequence[Page]) -> Block:
    ids = block.ids or ("",) * len(block)
    found = zip(block.page_ids.tolist(), block.revision_ids.tolist(), block.titles, ids, strict=True)
    if list(found) != [(page.page_id, page.revision_id, page.title, page.id or "") for page in pages]:
        raise Damaged(f"{PLACE} is about other pages")
    return block


def _part(fields: Fields, block: Block) -> CountedJob:
    skips = named(fields.get("skips"), PLACE)
    warnings = listed(fields.get("warnings"), PLACE, text)
    if len(warnings) > 1:
        raise Damaged(f"{PLACE} reports more of a part than the part has")
    return CountedJob(
        replace(
            block,
            skips={
                one_of(reason, PLACE, get_args(Skip)): whole(number, PLACE)
                for reason, number in skips.items()
            },
            warnings=tuple(map(visible, warnings)),
        ),
        visible(text(fields.get("fault"), PLACE)),
        one_of(fields.get("lack"), PLACE, (None, *get_args(Lack))),
    )


def _page(value: object, place: str) -> Page:
    if not isinstance(value, list) or len(value) != len(_PAGE):
        raise Damaged(f"{place} has a page that is not one")
    page_id, title, revision_id, words, markup, name = value
    words = text(words, place, LARGEST_TEXT)
    if utf8_size(words) > LARGEST_TEXT:
        raise Damaged(f"{place} has a page that is too large")
    page_id, revision_id = (whole(number, place, -(2**63), 2**63 - 1) for number in (page_id, revision_id))
    markup = one_of(markup, place, get_args(Markup))
    return Page(
        page_id, _title(title), revision_id, words, markup, None if name is None else text(name, place)
    )


def _title(title: object) -> str:
    found = text(title, PLACE)
    if utf8_size(found) > LONGEST_TITLE:
        raise Damaged(f"{PLACE} has a title that is too long")
    return found
