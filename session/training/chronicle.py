"""What becomes of one model's topics: their names, and what happens to them from snapshot to snapshot."""

from collections.abc import Sequence

from model.changes import Change, changes, living
from session.naming import names
from session.records import TopicEvent, TopWords
from session.storage.codec.topics import TopicNames


class Chronicle:
    """Follows one model. What it says depends on the snapshots alone, not on where a trainer stopped."""

    def __init__(
        self, model: str, words: Sequence[str], known: TopicNames | None, last: TopWords | None
    ) -> None:
        """``known`` as of the last commit, ``last``: the newest snapshot.

        A session that kept snapshots but no names yet gets them here, and no word of the births before.
        """
        self._model = model
        self._words = words
        self._names: list[str] = list(known.names) if known else []
        self._alive: set[int] = set(known.alive) if known else set()
        self._last: TopWords | None = last if known else None
        if last is not None and not known:
            self.note(last)

    @property
    def known(self) -> TopicNames:
        """To be kept with the snapshot."""
        return TopicNames(tuple(self._names), frozenset(self._alive))

    def note(self, snapshot: TopWords) -> list[TopicEvent]:
        """Take the next snapshot; returns what has happened since the one before."""
        before, self._last = self._last, snapshot
        found = changes(before.leading if before else None, snapshot.leading, snapshot.shares, self._alive)
        settled = self._alive
        self._alive = living(settled, found)
        old, self._names = self._names, names(snapshot.leading, snapshot.shares, self._words, self._names)
        stayed = sorted(settled & self._alive) if old else []
        found += [Change("renamed", topic) for topic in stayed if old[topic] != self._names[topic]]
        return [self._event(snapshot.articles, change, old) for change in found]

    def _event(self, articles: int, change: Change, old: Sequence[str]) -> TopicEvent:
        ended = change.kind in ("died", "merged")
        named = change.other if change.kind == "split" and change.other is not None else change.topic
        name = (old if ended and old else self._names)[named]
        return TopicEvent(self._model, articles, change.kind, change.topic, change.other, name)
