"""How topics are listed: their order, their selection and their areas. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

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
    topic_count: int
    """The number of its topics that are not hidden."""
    largest_topic: int
    """The largest of them."""
    is_open: bool
    """Whether its topics are listed below it."""


Row = TopicRow | AreaRow

ORDERS: Mapping[str, Callable[[Row], tuple[object, ...]]] = {
    "share": lambda row: (-row.share,),
    "change": lambda row: (-abs(row.change),),
    "number": lambda row: (),  # nothing comes before the number
    "name": lambda row: (row.name.casefold(),),
}
"""The orders of topics, each with what its rows are sorted by; equal ones are sorted by number."""


def ordered(rows: Collection[TopicRow], order: str, pinned: Collection[int] = ()) -> list[TopicRow]:
    """The topics in this order, without hidden ones, and with pinned ones before all others."""
    key = ORDERS[order]
    listed = [row for row in rows if not row.hidden]
    return sorted(listed, key=lambda row: (row.topic not in pinned, *key(row), row.topic))


@dataclass(frozen=True, slots=True)
class Search:
    """What is sought among topics."""

    text: str = ""
    """What was typed; "" for nothing."""
    by_words: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The topics for which its words speak, the strongest first, with these words."""

    def hits_in(self, row: TopicRow) -> list[str]:
        """The topic's words that contain a part of what is sought, and those that speak for it."""
        parts = self.text.casefold().split()
        hits = [word for word in row.all_words if any(part in word.casefold() for part in parts)]
        return list(dict.fromkeys([*hits, *self.by_words.get(row.topic, ())]))


NOTHING_SOUGHT = Search()


def matching(
    rows: Collection[TopicRow],
    search: Search,
    order: str = "share",
    pinned: Collection[int] = (),
) -> list[TopicRow]:
    """The topics with the text sought in their name or among their words, or with that number
    ("#12"), whole words first; then those for which its words speak. "" finds all."""
    sought = search.text.strip().removeprefix("#")
    if not sought:
        return ordered(rows, order, pinned)

    def distance(row: TopicRow) -> int:
        if sought == str(row.topic):
            return 0
        return nearness(sought, " ".join([row.name, *row.all_words]))

    distances = {row.topic: distance(row) for row in rows}
    matches = [row for row in ordered(rows, order, pinned) if distances[row.topic] < MISMATCH]
    by_text = sorted(matches, key=lambda row: distances[row.topic])
    others = {row.topic: row for row in rows if not row.hidden and row not in by_text}
    by_words = [others[topic] for topic in search.by_words if topic in others]
    return [*by_text, *by_words]


def featured(
    rows: Sequence[TopicRow], chosen: TopicRow | None, pinned: Collection[int]
) -> tuple[TopicRow | None, str]:
    """The topic to show in more detail, and in a word why: the selected one, else the largest
    pinned one, else the one whose share has moved most."""
    if chosen is not None:
        return chosen, "chosen"
    listed = [row for row in rows if not row.hidden]
    on_top = [row for row in listed if row.topic in pinned]
    if on_top:
        return max(on_top, key=lambda row: row.share), "pinned"
    return max(listed, key=lambda row: abs(row.change), default=None), "moved most"


def grouped(
    rows: Sequence[TopicRow],
    areas: Sequence[Area],
    opened: Collection[int],
    order: str,
    pinned: Collection[int] = (),
) -> list[Row]:
    """The areas in this order, and "other" last; an area whose number is in ``opened`` is followed
    by its topics. Pinned topics come before all areas, and topics not in use after them. ``rows``:
    topic k at index k."""
    key = ORDERS[order]
    topics_of: dict[int, list[TopicRow]] = {}
    heads: list[AreaRow] = []
    others = {area.number for area in areas if area.is_other}
    for area in areas:
        inside = [rows[topic] for topic in area.topics]
        shown = [row.topic for row in inside if not row.hidden]
        if not shown:
            continue
        topics_of[area.number] = inside
        heads.append(
            AreaRow(
                area.number,
                area.name,
                share=sum(row.share for row in inside),
                change=sum(row.change for row in inside),
                topic_count=len(shown),
                largest_topic=shown[0],  # an area lists its largest topic first
                is_open=area.number in opened,
            )
        )
    heads.sort(key=lambda head: (head.number in others, *key(head), head.number))

    listed: list[Row] = [*ordered([row for row in rows if row.topic in pinned], order)]
    for head in heads:
        listed.append(head)
        if head.is_open:
            inside = topics_of[head.number]
            listed += ordered([row for row in inside if row.topic not in pinned], order)
    placed = set(pinned)
    for area in areas:
        placed.update(area.topics)
    listed += ordered([row for row in rows if row.topic not in placed], order)
    return listed
