"""The settings with which a session is created; resuming it with other ones is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from wikitopics.option import Given
from wikitopics.session.models import ModelSpec
from wikitopics.session.options import KEEP_COUNTS, PASSES


@dataclass(frozen=True, kw_only=True)
class Settings(Given):
    """Resolved once, from what was requested, and fixed at creation. `values` holds those of `KEPT`; the
    fields below are determined in addition.

    A new session's source, once it is open, adds its name, the rest of `source_options`, and the values that
    were not requested. Limits, threads, requests a minute and the contact are not here: they may change.
    """

    source: str
    """The name of a kind in `wikitopics.session.sources`."""
    source_name: str
    """The name for people, e.g. "en.wikipedia.org"."""
    source_options: Mapping[str, Any]
    """What the source needs to be opened again, as its kind defines. Never a contact."""
    vocabulary: str
    """The name or file it was loaded from; the words themselves are in the session."""
    fingerprint: str
    """That of its words; "" until the session has built its vocabulary from its first articles."""
    rule: str
    """The word rule, as a vocabulary names it: as much a part of the vocabulary as its words."""
    models: tuple[ModelSpec, ...]
    batch_sizes: tuple[int, ...]
    """The largest minibatch of each model, in the order of ``models``; all divide the largest one."""
    measured_every: int | None = None
    """The most articles between two measurements, up to a million articles; None: as other rules say."""

    @property
    def building(self) -> bool:
        """Whether the session is still collecting the articles from which its vocabulary will be built."""
        return not self.fingerprint

    @property
    def batch_size(self) -> int:
        """Articles in a full minibatch of the session: the largest of the models'."""
        return max(self.batch_sizes)

    @property
    def keeps_counts(self) -> bool:
        """Whether the session keeps its word counts: for other sessions, or to read them again."""
        return self[KEEP_COUNTS] or self[PASSES] > 1

    def as_json(self) -> dict[str, Any]:
        """Plain values for the store; `decode_settings` is the inverse."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "values"}
        plain = {
            "source_options": dict(self.source_options),
            "models": [one.as_json() for one in self.models],
        }
        return {**own, **plain, **self.values}
