"""What a session is created with and keeps: resuming it with anything else is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crawler.options import Given
from session.errors import BadUsage
from session.specs import ModelSpec


@dataclass(frozen=True, kw_only=True)
class Settings(Given):
    """Fixed at creation. `values` holds those of :data:`session.options.KEPT`; these are found out beside.

    Limits, threads, requests a minute and the contact are not here: they may change.
    """

    source: str
    """The name of a kind, as :mod:`session.sources` knows it."""
    source_name: str
    """For people, e.g. "en.wikipedia.org"."""
    source_options: Mapping[str, Any]
    """What the source needs to be opened again, as its kind says. No contact, ever."""
    vocabulary: str
    """The name or file it was loaded from; the words themselves are in the session."""
    fingerprint: str
    """Of its words; "" until the session has built its vocabulary from its first articles."""
    rule: str
    """What a word of a text is, as a vocabulary names it: part of the vocabulary as its words are."""
    models: tuple[ModelSpec, ...]
    batch_sizes: tuple[int, ...]
    """Largest minibatch of each model, in the order of ``models``; all divide the largest."""

    @property
    def building(self) -> bool:
        """Whether the session still collects the articles that its vocabulary is to be built from."""
        return not self.fingerprint

    @property
    def batch_size(self) -> int:
        """Articles in a full minibatch of the session: the largest of the models'."""
        return max(self.batch_sizes)

    def as_json(self) -> dict[str, Any]:
        """Plain values for the store; `decode_settings` is the inverse."""
        return {
            "source": self.source,
            "source_name": self.source_name,
            "source_options": dict(self.source_options),
            "vocabulary": self.vocabulary,
            "fingerprint": self.fingerprint,
            "rule": self.rule,
            "models": [spec.as_json() for spec in self.models],
            "batch_sizes": self.batch_sizes,
            **self.values,
        }


def check_batch_sizes(models: tuple[ModelSpec, ...], sizes: tuple[int, ...]) -> None:
    """Raises :class:`BadUsage` unless every batch size divides the largest."""
    largest = max(sizes)
    for spec, size in zip(models, sizes, strict=True):
        if largest % size:
            raise BadUsage(
                f"model {spec.name!r} has batch size {size}, which does not divide the largest, {largest}: "
                "models that train side by side read the same minibatches"
            )
