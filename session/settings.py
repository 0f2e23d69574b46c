"""What a session is created with and keeps: resuming it with anything else is refused."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from session.errors import BadUsage
from session.specs import ModelSpec

KEEP_ARTICLES = ("all", "top", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """Fixed at creation. Limits, threads, requests a minute and the contact are not here: they may change."""

    source: str
    """api, html, dump, recent, counts or demo."""
    source_name: str
    """For people, e.g. "en.wikipedia.org"."""
    source_options: Mapping[str, Any]
    """What the source needs to be opened again: api_url, files, sizes. No contact, ever."""
    vocabulary: str
    """The name or file it was loaded from; the words themselves are in the session."""
    fingerprint: str
    seed: int
    held_out: int
    """Articles held out: the number given, or the one settled when the session was made."""
    documents: int
    """D, the size of the corpus that the models assume."""
    models: tuple[ModelSpec, ...]
    batch_sizes: tuple[int, ...]
    """Largest minibatch of each model, in the order of ``models``; all divide the largest."""
    keep_articles: str
    """all, top or none."""
    keep_counts: bool = False
    """Whether another session can train on the counts."""

    @property
    def batch_size(self) -> int:
        """Articles in a full minibatch of the session: the largest of the models'."""
        return max(self.batch_sizes)

    def as_json(self) -> dict[str, Any]:
        """Plain values for the store; `decode_settings` is the inverse."""
        values = asdict(self)
        values["models"] = [spec.as_json() for spec in self.models]
        return values


def check_batch_sizes(models: tuple[ModelSpec, ...], sizes: tuple[int, ...]) -> None:
    """Raises :class:`BadUsage` unless every batch size divides the largest."""
    largest = max(sizes)
    for spec, size in zip(models, sizes, strict=True):
        if largest % size:
            raise BadUsage(
                f"model {spec.name!r} has batch size {size}, which does not divide the largest, {largest}: "
                "models that train side by side read the same minibatches"
            )
