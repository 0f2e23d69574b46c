"""The requirements on a source of pages, as checks that can be run on any source."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from os.path import expanduser
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.source import (
    Activity,
    Asked,
    Identity,
    PageBatch,
    PageKind,
    Position,
    Source,
)
from wikitopics.option import Option

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MOST_BATCHES = 20
RESUMED = 3
"""The number of positions from which the source is opened again."""


def check_source(kind: type[PageKind], **options: Any) -> None:
    """Read the first batches of a source that yields pages, and resume it from several positions.

    options: values of the kind's options by name, which say what to read; it should fill several
    batches. Raises AssertionError, with one line about what was expected, for the first requirement
    that is not met.
    """
    described = kind()
    known = {option.name: option for option in described.options}
    values = {}
    for name, value in options.items():
        assert name in known, f"expected an option of {kind.__name__}, found {name!r}"
        values[name] = _taken(known[name], value)
    for option in described.options:
        is_given = option.name in values or not option.needed
        assert is_given, f"expected a value for {option.name}, which is needed"
    _run_to_end(_check(described, Asked(values)))


def _taken(option: Option[Any], value: object) -> object:
    """The value as a command would pass it on; a list is accepted instead of a tuple."""
    if option.of is tuple and isinstance(value, list):
        value = tuple(value)
    try:
        return option.resolved(option.check(value), expanduser)
    except ValueError:
        raise AssertionError(
            f"expected {option.name} to be {option.takes()}, found {value!r:.60}"
        ) from None


def _run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run the work to its end, even if an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def _check_identity(kind: PageKind, asked: Asked, identity: Identity) -> None:
    """Check the identity's keys, by which a resumed session compares options that are given
    again."""
    _check_json("identity", identity)
    for option in kind.options:
        own_name = f"expected {option.name}, which is needed, to be kept under its own name"
        assert not (option.needed and option.kept_as), own_name
        key = option.kept_as or option.name
        must_be_kept = option.scope == "session" and option in asked
        assert key in identity or not must_be_kept, (
            f"expected identity to have the key {key!r}, by which a resumed session compares the "
            "option"
        )


async def _check(kind: PageKind, asked: Asked) -> None:
    identity = kind.identity(asked)
    _check_identity(kind, asked, identity)
    async with _opened(kind, identity, asked) as (source, info):
        is_activity = isinstance(getattr(source, "activity", None), Activity)
        assert is_activity, "expected the source's activity to be an Activity"
        _check_json("the identity of SourceInfo", info.identity)
        batches = await _read(source, None, MOST_BATCHES)
    identity = {**identity, **info.identity}
    fault = kind.fault(identity)
    assert not fault, f"expected fault to accept what identity returned, found {fault!r}"
    _check_pages(batches)
    again = replace(asked, resuming=True)
    for after in range(min(RESUMED, len(batches))):
        expected = _pages_of(batches[after + 1 :])
        position = batches[after].position
        most_batches = len(expected) + MOST_BATCHES
        async with _opened(kind, identity, again) as (source, _):
            resumed = await _read(source, position, most_batches, len(expected))
        pages = _pages_of(resumed)[: len(expected)]
        assert pages == expected, (
            f"expected the same pages again after the position {dict(position)}, "
            f"found {_titles(pages)} instead of {_titles(expected)}"
        )


@asynccontextmanager
async def _opened(
    kind: PageKind, identity: Identity, asked: Asked
) -> AsyncIterator[tuple[Source, SourceInfo]]:
    source = kind.open(identity, asked)
    for name in ("open", "batches", "close"):
        assert hasattr(source, name), f"expected the source to have {name}, found {source!r:.60}"
    try:
        info = await source.open()
        _check_type(info, SourceInfo, "open of the source to give a SourceInfo")
        _check_type(
            info.articles, int | None, "articles of SourceInfo to be a whole number or None"
        )
        yield source, info
    finally:
        await source.close()
        await source.close()


async def _read(
    source: Source,
    position: Position | None,
    most_batches: int,
    most_pages: float = math.inf,
) -> list[PageBatch]:
    """The batches after a position, until there are enough of them or of their pages."""
    batches: list[PageBatch] = []
    pages = 0
    async with aclosing(source.batches(position)) as stream:
        while len(batches) < most_batches and pages < most_pages:
            batch = await anext(stream, None)
            if batch is None:
                break
            assert isinstance(batch, PageBatch), (
                f"expected batches to yield a PageBatch, found {batch!r:.60}"
            )
            _check_json("position", batch.position)
            assert _are_counts(batch.skips), (
                f"expected skips to be numbers of pages by reason, found {batch.skips!r:.60}"
            )
            batches.append(batch)
            pages += len(batch.pages)
    return batches


def _are_counts(skips: object) -> bool:
    """Whether these are numbers of pages by reason."""
    if not isinstance(skips, Mapping):
        return False
    for reason, number in skips.items():
        if not isinstance(reason, str) or type(number) is not int or number < 0:
            return False
    return True


def _pages_of(batches: Sequence[PageBatch]) -> list[Page]:
    return [page for batch in batches for page in batch.pages]


def _check_pages(batches: Sequence[PageBatch]) -> None:
    pages = _pages_of(batches)
    assert pages, "expected at least one page"
    kinds = get_args(Markup)
    for page in pages:
        _check_type(page, Page, "pages to hold a Page")
        _check_type(page.page_id, int, "page_id to be a whole number")
        _check_type(page.title, str, "title to be text")
        _check_type(page.text, str, "text to be text")
        _check_type(page.id, str | None, "id to be text or None")
        assert page.markup in kinds, (
            f"expected markup to be one of {', '.join(kinds)}, found {page.markup!r}"
        )
    numbers = [page.page_id for page in pages]
    assert len(set(numbers)) == len(numbers), "expected each page to have a page_id of its own"
    laps = [batch.lap for batch in batches if batch.lap is not None]
    assert all(0 <= lap <= 1 for lap in laps), f"expected lap between 0 and 1, found {laps}"
    never_falls = all(before <= after for before, after in pairwise(laps))
    assert never_falls, f"expected lap never to fall, found {laps}"


def _check_type(value: object, types: type | UnionType, expected: str) -> None:
    is_one = isinstance(value, types) and not isinstance(value, bool)
    assert is_one, f"expected {expected}, found {value!r:.60}"


def _check_json(name: str, value: Mapping[str, Any]) -> None:
    try:
        written = json.dumps(dict(value), allow_nan=False)
        is_same = json.loads(written) == dict(value)
    except (TypeError, ValueError):
        is_same = False
    assert is_same, (
        f"expected {name} to hold plain JSON values, with texts as keys, found {value!r:.100}"
    )


def _titles(pages: Sequence[Page]) -> str:
    if not pages:
        return "none"
    first = ", ".join(repr(page.title) for page in pages[:2])
    return f"{first} …" if len(pages) > 2 else first
