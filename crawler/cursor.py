"""The cursor of the random generator, ``rand|start|id|flag``: the place on a lap through all articles."""

from collections.abc import Mapping

from crawler.errors import BadSource
from crawler.page import Position


def generator(limit: int) -> dict[str, str]:
    """The parameters that list ``limit`` articles in the wiki's random order, without redirects."""
    return {"generator": "random", "grnnamespace": "0", "grnlimit": str(limit)}


def position_of(cursor: Mapping[str, str] | None) -> Position:
    """The position that says: go on with ``cursor``; None: the lap is over."""
    return {"finished": True} if cursor is None else {"cursor": dict(cursor)}


def cursor_of(position: Position | None) -> dict[str, str] | None:
    """The parameters to send first, None where the lap is over. Raises BadSource."""
    if position is None:
        return {}
    if position.get("finished") is True:
        return None
    cursor = position.get("cursor")
    if not isinstance(cursor, Mapping) or not all(
        isinstance(k, str) and isinstance(v, str) for k, v in cursor.items()
    ):
        raise BadSource("the saved crawl position belongs to another kind of source")
    return dict(cursor)


def lap_share(cursor: Mapping[str, str] | None) -> float | None:
    """How much of the lap lies behind ``cursor``, 0 to 1; None where it does not say."""
    if cursor is None:
        return 1.0
    fields = cursor.get("grncontinue", "").split("|")
    try:
        begin, here, wrapped = float(fields[0]), float(fields[1]), fields[3] == "1"
    except (ValueError, IndexError):
        return None
    share = here - begin + (1.0 if wrapped else 0.0)
    return min(max(share, 0.0), 1.0) if share == share else None


def moves_on(before: Mapping[str, str], behind: Mapping[str, str]) -> bool:
    """Whether the cursor ``behind`` lies further on the lap than ``before``, as far as they say."""
    here, there = before.get("grncontinue"), behind.get("grncontinue")
    if there is None or there == here:
        return False
    share_here, share_there = lap_share(before), lap_share(behind)
    return here is None or share_here is None or share_there is None or share_there >= share_here
