"""Pages that came before: a small memory for a source that should return each page once."""

from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping

_RECENT = 1000
_SAMPLE = 1024
_MOST_AGAIN = 200
"""After this many known pages in a row, the source is repeating itself."""
_FEWEST_HITS = 3
_SCATTER = 0x9E3779B97F4A7C15
"""2**64 over the golden ratio: multiples of it are spread evenly (Knuth, volume 3, section 6.4)."""
_ALL_BITS = (1 << 64) - 1


class Seen:
    """Remembers the last 1,000 pages, and a sample of all pages before them, chosen by a hash of the id.

    Of 7 million pages the sample holds one in several thousand, which is enough to notice that a pass
    restarts; a wiki that repeats a few batches is noticed by the last pages. It takes 16 kB, whatever it has
    seen.
    """

    def __init__(self, stored: Mapping[str, object] | None = None) -> None:
        """``stored``: the result of `stored`; something unusable counts as nothing."""
        fields = stored or {}
        recent, oldest = _ids(fields.get("recent"))[:_RECENT], _number(fields.get("next")) % _RECENT
        self._recent = dict.fromkeys(recent[oldest:] + recent[:oldest])
        """As an ordered set, oldest first. (In positions of earlier versions the oldest may be elsewhere.)"""
        self._sample = set(_ids(fields.get("sample"))[:_SAMPLE])
        self._bits = min(_number(fields.get("bits")), 64)
        """A page is in the sample if this many leading bits of its hash are zero."""
        self._hits = _number(fields.get("hits"))
        """Known pages since the last one that was certainly new."""
        self._again = _number(fields.get("again"))
        """How many pages those represent."""
        self._sample_text: str | None = None

    @property
    def repeats(self) -> bool:
        """Whether all recent pages came before."""
        return self._hits >= _FEWEST_HITS and self._again >= _MOST_AGAIN

    def add(self, page_ids: Iterable[int]) -> set[int]:
        """Record these pages; returns those that are new, as far as is known."""
        return {page_id for page_id in page_ids if self._is_new(page_id)}

    def stored(self) -> dict[str, object]:
        """Everything as JSON values, to be stored with the position."""
        if self._sample_text is None:
            self._sample_text = _text(array("q", self._sample))
        numbers = {"bits": self._bits, "hits": self._hits, "again": self._again}
        return {"recent": _text(array("q", self._recent)), "sample": self._sample_text, **numbers}

    def _is_new(self, page_id: int) -> bool:
        is_sampled = self._samples(page_id)
        if page_id in self._sample or page_id in self._recent:
            self._hits += 1
            # A page of the sample represents all those that came with it.
            self._again += 1 << self._bits if is_sampled else 1
            return False
        if is_sampled:
            self._hits = self._again = 0  # certainly new
            self._sample.add(page_id)
            self._sample_text = None
            while len(self._sample) > _SAMPLE:
                self._bits += 1
                self._sample = set(filter(self._samples, self._sample))
        self._recent[page_id] = None
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return True

    def _samples(self, page_id: int) -> bool:
        return (page_id * _SCATTER & _ALL_BITS) >> (64 - self._bits) == 0


def _number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def _text(page_ids: "array[int]") -> str:
    return b64encode(page_ids).decode("ascii")


def _ids(text: object) -> "array[int]":
    ids = array("q")
    try:
        ids.frombytes(b64decode(text) if isinstance(text, str) else b"")
    except ValueError:
        return array("q")
    return ids
