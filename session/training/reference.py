"""The reference articles of a session: the first ones trained, in which it is counted which words
occur together. They stay the same for its whole life."""

from wikitopics.model.coherence import Cooccurrences
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import REFERENCE_ARTICLES
from wikitopics.session.storage.writer import Changes, SessionWriter


class Reference:
    """Collects the reference articles of a session as it trains."""

    def __init__(self, store: SessionWriter) -> None:
        self._articles = store.reference()
        self._cooccurrences: Cooccurrences | None = None
        trained = store.progress().articles
        self.to_store: Block | None = None
        """Articles to store as reference articles: in a session that was trained by a version
        without them, those whose counts it still has."""
        if trained > 0 and not len(self._articles):
            _, still_there = store.recent(0, REFERENCE_ARTICLES, trained)
            if len(still_there):
                self.to_store = still_there
                self._articles = still_there

    def add(self, trained: Block, changes: Changes) -> None:
        """Take articles that have just been trained for the first time, until there are enough."""
        lacking = REFERENCE_ARTICLES - len(self._articles)
        if lacking <= 0 or not len(trained):
            return
        more = trained[:lacking]
        changes.reference.append(more)
        self._articles = Block.concatenate([self._articles, more.nameless()])
        self._cooccurrences = None

    @property
    def cooccurrences(self) -> Cooccurrences:
        """Which of them contain which words."""
        if self._cooccurrences is None:
            self._cooccurrences = Cooccurrences(self._articles.minibatch())
        return self._cooccurrences
