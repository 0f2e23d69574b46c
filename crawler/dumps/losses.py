"""What of a dump could not be read, as it is told to people."""

from dataclasses import dataclass

from wikitopics.crawler.errors import REST_LEFT_OUT


@dataclass(slots=True)
class Losses:
    """The faults of a dump so far, and the pages that they have cost."""

    until: int | None = None
    """The byte up to which faults, and pages that begin, are told; None: all are."""
    fault: str = ""
    """What was wrong first; "" if nothing was."""
    has_gaps: bool = False
    """Whether bytes are missing, with which any number of pages may be lost."""
    is_cut_off: bool = False
    _fault_at: int = 0
    _pages: int = 0
    """The number of articles that could not be read to their end, as far as they are told."""

    def note(self, fault: str, at: int) -> None:
        """Note a fault at this byte, if it is the first one."""
        if not self.fault:
            self.fault = fault
            self._fault_at = at

    def lose_article(self, start: int) -> None:
        """Count an article that begins at this byte, if it is told."""
        if self.until is None or start < self.until:
            self._pages += 1

    @property
    def told(self) -> str:
        """All of this for people; "" if everything was read."""
        told = []
        if self.fault and (self.until is None or self._fault_at <= self.until):
            told.append(f"{self.fault}; {self._pages_told()}")
        if self.is_cut_off:
            told.append(f"cut off; {REST_LEFT_OUT}")
        return "; ".join(told)

    def _pages_told(self) -> str:
        if not self._pages:
            return "pages are lost" if self.has_gaps else "no page is lost"
        lost = "1 page is lost" if self._pages == 1 else f"{self._pages:,} pages are lost"
        return f"at least {lost}" if self.has_gaps else lost
