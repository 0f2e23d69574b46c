"""Answers of a cluster's workers as bytes, written there and read here like any hostile input.

An answer is a line of JSON, followed by the word counts in the format in which a session stores them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import numpy as np
from msgspec import Meta

from wikitopics.crawler.source import LARGEST_TEXT, LONGEST_TITLE, Lack, Markup, Page, Skip, utf8_size
from wikitopics.session.errors import Damaged
from wikitopics.session.escapes import visible
from wikitopics.session.records import Count, Text
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.decoding import convert, from_json
from wikitopics.session.training.intake.pool import (
    EMPTY,
    CountedPart,
    count_in_worker,
    count_part_in_worker,
    pages_in_worker,
)

PLACE = "an answer of the cluster"
LARGEST = 64 << 20
"""The most bytes of an answer: word counts take 0.1 MB, the texts of a part's pages some 5 MB."""
_PAGE = ("page_id", "title", "revision_id", "text", "markup", "id")
_Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Page = tuple[_Number, Text, _Number, Annotated[str, Meta(max_length=LARGEST_TEXT)], Markup, Text | None]
"""These fields of a page."""


class _Part(TypedDict):
    """What is told of a part, besides its counts."""

    skips: dict[Skip, Count]
    warnings: Annotated[tuple[Text, ...], Meta(max_length=1)]
    fault: Text
    lack: Lack | None


Job = Callable[..., Any]
Fields = Mapping[str, object]


def pack(found: object, fields: Fields) -> bytes:
    """The result of a job, or EMPTY, with more ``fields`` about it."""
    block, told = EMPTY, dict(fields)
    if isinstance(found, Block):
        block = found
    elif isinstance(found, CountedPart):
        block, told = found.block, told | _part_fields(found)
    elif isinstance(found, tuple):  # of pages_in_worker
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
    fields: Fields = from_json(head.decode("ascii", "replace"), dict[str, Any], PLACE, longest=LARGEST)
    return fields


def unpack(fn: Job, args: Sequence[Any], data: bytes, fields: Fields, n_words: int) -> Any:
    """The result of ``fn(*args)`` on the worker. Raises `Damaged` for anything it cannot have returned."""
    if fn is pages_in_worker:
        pages = convert(fields.get("pages"), list[_Page], PLACE)
        return tuple(map(_page, pages)), _part(fields, EMPTY)
    block = _block(data.partition(b"\n")[2], n_words)
    if fn is count_part_in_worker:
        return _part(fields, block)
    assert fn is count_in_worker
    return _of_pages(block, args[0])


def _part_fields(part: CountedPart) -> dict[str, object]:
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


def _part(fields: Fields, block: Block) -> CountedPart:
    part = convert(fields, _Part, PLACE)
    block = replace(block, skips=part["skips"], warnings=tuple(map(visible, part["warnings"])))
    return CountedPart(block, visible(part["fault"]), part["lack"])


def _page(fields: "_Page") -> Page:
    if utf8_size(fields[3]) > LARGEST_TEXT:
        raise Damaged(f"{PLACE} has a page that is too large")
    _title(fields[1])
    return Page(*fields)


def _title(title: str) -> None:
    if utf8_size(title) > LONGEST_TITLE:
        raise Damaged(f"{PLACE} has a title that is too long")
