"""The first documents of a stream, which a model keeps as long as topics may start from them."""

from __future__ import annotations

from numpy.typing import ArrayLike

from wikitopics.model.minibatch import Counts, Ids, Indices, Minibatch


class FirstDocuments:
    """The first documents, in the order in which they came; none without arguments.

    They are kept as the minibatches in which they came, and joined only when all are needed. To
    join them at every step would copy all of them each time, which with small minibatches can take
    longer than learning them.

    indptr, word_ids, counts: as of a `Minibatch`

    Raises ValueError for arrays that make no `Minibatch`.
    """

    def __init__(
        self, indptr: ArrayLike = (0,), word_ids: ArrayLike = (), counts: ArrayLike = ()
    ) -> None:
        documents = Minibatch(indptr, word_ids, counts)
        self._batches = [documents]
        self.D = documents.D
        """The number of documents."""
        self.N = len(documents.word_ids)
        """The number of entries: the distinct words of each document, summed."""

    def add(self, batch: Minibatch) -> None:
        """Keep the documents of another minibatch behind these."""
        self._batches.append(batch)
        self.D += batch.D
        self.N += len(batch.word_ids)

    def joined(self) -> Minibatch:
        """All documents."""
        if len(self._batches) > 1:
            self._batches = [Minibatch.concatenate(self._batches)]
        return self._batches[0]

    # As a state has them.

    @property
    def indptr(self) -> Indices:
        return self.joined().indptr

    @property
    def word_ids(self) -> Ids:
        return self.joined().word_ids

    @property
    def counts(self) -> Counts:
        return self.joined().counts
