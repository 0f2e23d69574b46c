"""The faults of the embedded wiki: their kinds, rates and pages."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

ERRORS: Mapping[str, tuple[int, str | None]] = {
    "429": (429, "1"),
    "429-date": (429, "date"),
    "429-absent": (429, None),
    "429-absurd": (429, "99999999999"),
    "429-under-200": (200, "1"),
    "403": (403, None),
    "500": (500, None),
    "502": (502, None),
    "503": (503, "1"),
    "504": (504, None),
}
"""The status and the Retry-After of error pages, by kind; "date": two seconds from now, as a date."""
REQUEST_KINDS = (
    *ERRORS,
    *("maxlag", "readonly", "json", "html", "charset", "gzip"),
    *("endless", "stall", "reset", "truncated", "out-of-order", "duplicate"),
)
"""Kinds that affect one request; each request has at most one."""
PAGE_KINDS = ("deleted", "disambiguation", "oversized")
"""Kinds that affect a page permanently: the same pages for the same seed."""


@dataclass(frozen=True)
class Faults:
    """Rates from 0 to 1 by kind; the rates of `REQUEST_KINDS` add up to at most 1."""

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for kind, rate in self.rates.items():
            if kind not in REQUEST_KINDS + PAGE_KINDS:
                raise ValueError(f"unknown fault {kind!r}: give {', '.join(REQUEST_KINDS + PAGE_KINDS)}")
            if not 0 <= rate <= 1:
                raise ValueError(f"fault {kind}: a rate from 0 to 1, not {rate}")
        if sum(self.rates.get(kind, 0.0) for kind in REQUEST_KINDS) > 1 + 1e-9:
            raise ValueError("the rates of the faults add up to more than 1")

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> "Faults":
        """Read ``"429=0.02,stall=0.01"``. Raises ValueError."""
        rates: dict[str, float] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            kind, separator, rate = part.partition("=")
            if not separator:
                raise ValueError(f"{part!r}: write KIND=RATE")
            rates[kind.strip()] = float(rate)
        return cls(rates, seed)

    def draw(self, rng: random.Random) -> str | None:
        """The fault of one request, usually None."""
        point = rng.random()
        for kind in REQUEST_KINDS:
            point -= self.rates.get(kind, 0.0)
            if point < 0:
                return kind
        return None

    def hits(self, kind: str, index: int) -> bool:
        """Whether page ``index`` has the fault ``kind``."""
        rate = self.rates.get(kind, 0.0)
        return rate > 0 and random.Random(f"{kind} {self.seed} {index}").random() < rate
