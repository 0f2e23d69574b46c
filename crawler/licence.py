"""The licences of sources' texts, for passing on titles or word counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yarl import URL


@dataclass(frozen=True, slots=True)
class Licence:
    """The attribution that other people's texts require."""

    origin: str
    """Where they are from."""
    name: str
    url: str = ""
    """The address of its text; "" if it is not known."""

    @property
    def text(self) -> str:
        """One line for people."""
        where = f" ({self.url})" if self.url else ""
        return (
            f"titles and word counts are from {self.origin}, by its authors, under "
            f"{self.name}{where}"
        )


SAMPLE = Licence(
    "Wikipedia (snapshot of 2014)",
    "CC BY-SA 3.0",
    "https://creativecommons.org/licenses/by-sa/3.0/",
)
"""The licence of the embedded sample: crawler/data/README.md."""


def of_wiki(address: URL) -> Licence:
    """The licence of the wiki that has this address."""
    host = address.host or ""
    if host.endswith(".wikipedia.org"):
        return Licence(host, "CC BY-SA 4.0", "https://creativecommons.org/licenses/by-sa/4.0/")
    return Licence(host, "the licence that this wiki names on its pages")
