"""The cursor of the random generator, ``rand|start|id|flag``: the place on a lap through all articles."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = r"\d(?:\.\d{1,30})?(?:[eE]-\d{1,3})?"
_TOKEN = re.compile(rf"({_NUMBER})\|({_NUMBER})\|(\d{{1,19}})\|([01])")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The state of a lap, as the wiki reported it."""

    token: str
    begin: float
    """Where the lap began in the wiki's order, 0 to 1."""
    share: float
    """The share of the lap completed, 0 to 1."""
    page_id: int
    """The next page."""

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters with which to continue from here."""
        return {"grncontinue": self.token, "continue": "grncontinue||"}

    def follows(self, before: "Cursor") -> bool:
        """Whether this is further on the same lap than ``before``."""
        moved = self.share > before.share or (self.share == before.share and self.page_id != before.page_id)
        return self.begin == before.begin and moved


def read_cursor(parameters: Mapping[str, object]) -> Cursor | None:
    """The cursor in ``parameters``; None if there is none, or none of this form."""
    token = parameters.get("grncontinue")
    found = _TOKEN.fullmatch(token) if isinstance(token, str) else None
    if found is None or not isinstance(token, str):
        return None
    begin, here, wrapped = float(found[1]), float(found[2]), found[4] == "1"
    share = here - begin + wrapped
    return Cursor(token, begin, share, int(found[3])) if 0 <= share <= 1 else None


def generator(limit: int) -> dict[str, str]:
    """The parameters that list ``limit`` articles in the wiki's random order, without redirects."""
    return {"generator": "random", "grnnamespace": "0", "grnlimit": str(limit)}
