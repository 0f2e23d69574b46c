"""The articles most about a topic: the order in which they are listed, wherever a session shows or
keeps some of them."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from struct import pack
from typing import Any

from wikitopics.session.errors import Damaged
from wikitopics.session.records import Count, PositiveCount
from wikitopics.session.storage.database import (
    FIRST_RELEASED,
    IS_TRAINED,
    SECTION_BITS,
    WITH_SECTIONS,
    largest_topic,
    section,
)

_MOST_LISTED = 5_000
"""At most this many articles are listed for a topic: those with the largest proportions."""
_RANKED_TOGETHER = 400
"""Of a topic's articles by proportion, this many at a time are ranked. The index does not have
their lengths, and more would make the titles of all topics slow in a session of a million."""
_HALVED_AT = 30
"""An article with this many words is as typical as a long one with half of its proportion. A
smaller number lists more stubs first, a larger one articles about less of the topic
(`python -m benchmarks titles`)."""
_LARGEST_FIRST = "ORDER BY {0} DESC, seq DESC LIMIT ? OFFSET ?"
_WITH_TOPIC = f"WHERE {{0}} BETWEEN ? AND ? AND {IS_TRAINED} "
_WITH_TOPIC_RELEASED = "JOIN article_topics t USING (seq) WHERE t.model = ? AND t.topic = ? "
"""The articles with a topic as their largest, and the same in a file of 1.0.0."""
_MOST_SECTIONS = 4096


def typicality(proportion: float, words: int) -> float:
    """How typical of its largest topic an article is: the topic's proportion of it, as if it went
    on with `_HALVED_AT` words of other topics. A proportion of 1 of ten words may be chance."""
    return proportion * words / (words + _HALVED_AT)


def most_typical(
    select: Callable[..., list[Any]],
    model: int,
    topics: Iterable[int],
    limit: int,
    version: int,
) -> dict[int, list[int]]:
    """For each of these topics, the numbers of the trained articles that have it as their largest,
    the most typical first: in the order of `typicality` among the `_RANKED_TOGETHER` articles with
    the largest proportions, then among as many with the next ones. Of an article that was read
    several times, only the most typical reading.

    ``version``: the format of the session
    """
    sections: Sequence[int | None] = [None]
    if version >= WITH_SECTIONS:
        sections = _sections(select)
    most = min(max(limit, _RANKED_TOGETHER), _MOST_LISTED)

    def key(row: tuple[int, int, int, Any]) -> float:
        _, _, words, stored = row
        ten_thousandths = stored if version == FIRST_RELEASED else int.from_bytes(stored[2:], "big")
        return typicality(ten_thousandths, words)

    found: dict[int, list[int]] = {}
    for topic in topics:
        # The first rows of each section; in all but the smallest sessions, no section needs more.
        at_once = max(1, 2 * most // max(1, len(sections)))
        in_sections = [
            _by_proportion(select, model, topic, version, number, at_once) for number in sections
        ]
        in_order = heapq.merge(*in_sections, key=itemgetter(3, 0), reverse=True)
        rows = list(islice(in_order, most))
        readings: dict[int, int] = {}
        for start in range(0, len(rows), _RANKED_TOGETHER):
            together = rows[start : start + _RANKED_TOGETHER]
            for seq, page_id, _, _ in sorted(together, key=key, reverse=True):
                readings.setdefault(page_id, seq)
        found[topic] = list(readings.values())[:limit]
    return found


def _by_proportion(
    select: Callable[..., list[Any]],
    model: int,
    topic: int,
    version: int,
    in_section: int | None,
    at_once: int,
) -> Iterator[tuple[int, int, int, Any]]:
    """(number, page id, words, largest proportion as stored) of the trained articles of a section
    with this largest topic, those with the largest proportions first; ``in_section`` None: of all.

    Some are read ``at_once``, then twice as many, and so on.
    """
    largest = largest_topic(model)
    kind: type = bytes
    clause = _WITH_TOPIC
    parameters: list[object] = [pack(">HH", topic, 0), pack(">HH", topic, 10_000)]
    if version == FIRST_RELEASED:
        largest = "t.proportion"
        kind = int
        clause = _WITH_TOPIC_RELEASED
        parameters = [model, topic]
    if in_section is not None:
        clause += f"AND {section('seq')} = ? "
        parameters.append(in_section)
    columns = {"seq": PositiveCount, "page_id": int, "words": Count, largest: kind}
    clause = (clause + _LARGEST_FIRST).format(largest)
    done = 0
    while True:
        rows = select("articles", columns, clause, [*parameters, at_once, done])
        yield from rows
        if len(rows) < at_once:
            return
        done += at_once
        at_once *= 2


def _sections(select: Callable[..., list[Any]]) -> list[int]:
    """The sections that have articles. Raises `Damaged`."""
    found: list[int] = []
    start = 0
    while True:
        ((first,),) = select(
            "articles", {"min(seq)": PositiveCount | None}, "WHERE seq >= ?", [start]
        )
        if first is None:
            return found
        if len(found) == _MOST_SECTIONS:
            raise Damaged("articles.seq is out of range")
        found.append(first >> SECTION_BITS)
        start = (found[-1] + 1) << SECTION_BITS
