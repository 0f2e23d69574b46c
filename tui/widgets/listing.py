"""How topics are listed: their order, their selection and their groups. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from wikitopics.session.analysis.tree import Branch
from wikitopics.session.records import TopicRow
from wikitopics.tui.words import APART, nearness


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of similar topics, in one row."""

    number: int
    name: str
    share: float
    change: float
    many: int
    """The number of its topics."""
    is_open: bool
    """Whether its topics are listed below it."""


Row = TopicRow | GroupRow

ORDERS: Mapping[str, Callable[[Row], tuple[object, ...]]] = {
    "share": lambda row: (-row.share,),
    "change": lambda row: (-abs(row.change),),
    "number": lambda row: (),
    "name": lambda row: (row.name.casefold(),),
}
"""The orders of topics; equal ones are ordered by number."""


def ordered(rows: Collection[TopicRow], order: str, pinned: Collection[int] = ()) -> list[TopicRow]:
    """The topics in this order, with pinned ones before all others."""
    key = ORDERS[order]
    return sorted(rows, key=lambda row: (row.topic not in pinned, *key(row), row.topic))


def found(
    rows: Collection[TopicRow], text: str, order: str = "share", pinned: Collection[int] = ()
) -> list[TopicRow]:
    """The topics with ``text`` in their name or among their words, or with that number ("#12"), whole
    words first; "" finds all."""
    sought = text.strip().removeprefix("#")
    if not sought:
        return ordered(rows, order, pinned)
    near = {row.topic: _nearness(sought, row) for row in rows}
    return sorted(
        (row for row in ordered(rows, order, pinned) if near[row.topic] < APART),
        key=lambda row: near[row.topic],
    )


def _nearness(sought: str, row: TopicRow) -> int:
    if sought == str(row.topic):
        return 0
    return nearness(sought, " ".join([row.name, *(word for word, _ in row.words)]))


def featured(
    rows: Sequence[TopicRow], chosen: TopicRow | None, pinned: Collection[int]
) -> tuple[TopicRow | None, str]:
    """The topic to show in more detail, and why that one: the selected one, else the largest pinned one,
    else the one whose share has moved most."""
    if chosen is not None:
        return chosen, "chosen"
    if on_top := [row for row in rows if row.topic in pinned]:
        return max(on_top, key=lambda row: row.share), "pinned"
    return max(rows, key=lambda row: abs(row.change), default=None), "moved most"


def grouped(
    rows: Sequence[TopicRow],
    groups: Sequence[Branch],
    opened: Collection[int],
    order: str,
    pinned: Collection[int] = (),
) -> list[Row]:
    """The groups in this order, each of those in ``opened`` followed by its topics; pinned topics come
    before all groups. ``rows``: topic k at index k."""
    listed: list[Row] = [*ordered([row for row in rows if row.topic in pinned], order)]
    heads = [_head(rows, group, group.number in opened) for group in groups]
    members = {group.number: group.topics for group in groups}
    key = ORDERS[order]
    for head in sorted(heads, key=lambda head: (*key(head), head.number)):
        listed.append(head)
        if head.is_open:
            inside = [rows[topic] for topic in members[head.number] if topic not in pinned]
            listed += ordered(inside, order)
    return listed


def _head(rows: Sequence[TopicRow], group: Branch, is_open: bool) -> GroupRow:
    """The row of a group: its topics may have changed since they were grouped."""
    inside = [rows[topic] for topic in group.topics]
    return GroupRow(
        group.number,
        group.name,
        sum(row.share for row in inside),
        sum(row.change for row in inside),
        len(inside),
        is_open,
    )
