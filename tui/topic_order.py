"""How topics are listed: their order, their selection and their areas. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from wikitopics.session.analysis.areas import Area
from wikitopics.session.records import TopicRow
from wikitopics.tui.text import MISMATCH, nearness


@dataclass(frozen=True, slots=True)
class AreaRow:
    """An area, in one row."""

    number: int
    name: str
    share: float
    change: float
    many: int
    """The number of its topics that are not hidden."""
    largest: int
    """The largest of them."""
    is_open: bool
    """Whether its topics are listed below it."""


Row = TopicRow | AreaRow

ORDERS: Mapping[str, Callable[[Row], tuple[object, ...]]] = {
    "share": lambda row: (-row.share,),
    "change": lambda row: (-abs(row.change),),
    "number": lambda row: (),
    "name": lambda row: (row.name.casefold(),),
}
"""The orders of topics; equal ones are ordered by number."""


def ordered(rows: Collection[TopicRow], order: str, pinned: Collection[int] = ()) -> list[TopicRow]:
    """The topics in this order, without hidden ones, and with pinned ones before all others."""
    key, listed = ORDERS[order], (row for row in rows if not row.hidden)
    return sorted(listed, key=lambda row: (row.topic not in pinned, *key(row), row.topic))


def matching(
    rows: Collection[TopicRow],
    text: str,
    order: str = "share",
    pinned: Collection[int] = (),
) -> list[TopicRow]:
    """The topics with ``text`` in their name or among their words, or with that number ("#12"),
    whole words first; "" finds all."""
    sought = text.strip().removeprefix("#")
    if not sought:
        return ordered(rows, order, pinned)
    near = {
        row.topic: sought != str(row.topic)
        and nearness(sought, " ".join([row.name, *(word for word, _ in row.words)]))
        for row in rows
    }
    matches = [row for row in ordered(rows, order, pinned) if near[row.topic] < MISMATCH]
    return sorted(matches, key=lambda row: near[row.topic])


def featured(
    rows: Sequence[TopicRow], chosen: TopicRow | None, pinned: Collection[int]
) -> tuple[TopicRow | None, str]:
    """The topic to show in more detail, and why that one: the selected one, else the largest pinned
    one, else the one whose share has moved most."""
    if chosen is not None:
        return chosen, "chosen"
    listed = [row for row in rows if not row.hidden]
    if on_top := [row for row in listed if row.topic in pinned]:
        return max(on_top, key=lambda row: row.share), "pinned"
    return max(listed, key=lambda row: abs(row.change), default=None), "moved most"


def grouped(
    rows: Sequence[TopicRow],
    areas: Sequence[Area],
    opened: Collection[int],
    order: str,
    pinned: Collection[int] = (),
) -> list[Row]:
    """The areas in this order, each of those in ``opened`` followed by its topics; pinned topics
    come before
    all areas, and topics of no area after them. ``rows``: topic k at index k."""
    heads: list[tuple[AreaRow, list[TopicRow]]] = []
    for area in areas:
        inside = [rows[topic] for topic in area.topics]
        shown = [row.topic for row in inside if not row.hidden]
        if not shown:
            continue
        share, change = sum(row.share for row in inside), sum(row.change for row in inside)
        is_open = area.number in opened
        row = AreaRow(area.number, area.name, share, change, len(shown), shown[0], is_open)
        heads.append((row, inside))
    listed: list[Row] = [*ordered([row for row in rows if row.topic in pinned], order)]
    for head, inside in sorted(heads, key=lambda one: (*ORDERS[order](one[0]), one[0].number)):
        listed.append(head)
        if head.is_open:
            listed += ordered([row for row in inside if row.topic not in pinned], order)
    placed = {topic for area in areas for topic in area.topics}.union(pinned)
    return [*listed, *ordered([row for row in rows if row.topic not in placed], order)]
