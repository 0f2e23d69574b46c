"""How models predict articles before these are trained, over the newest of the stream.

Held-out articles are the oldest. Of a stream that changes they tell less and less, and what a model is to be
good at is what comes next.
"""

from collections.abc import Sequence

from model import CompletionSet, Minibatch, OnlineModel
from session.storage.codec.progress import Scored

NEWEST = 1000
"""Articles that the mean is over, in whole minibatches."""
SAMPLE = 256
"""Articles of a minibatch that are scored, at most, evenly spread: all would cost a third of the training."""


def scored(models: Sequence[OnlineModel], batch: Minibatch, seed: int) -> Scored:
    """What the models say of a minibatch that they have not learnt yet, by document completion.

    They stay as they are, their random numbers too.
    """
    every = -(-batch.D // SAMPLE)
    documents = Minibatch.concatenate([batch[d : d + 1] for d in range(0, batch.D, every)])
    completion = CompletionSet(documents, seed)
    words = int(completion.hidden.n_tokens)
    nats = tuple(float(completion.score(model)) * words if words else 0.0 for model in models)
    return Scored(batch.D, words, nats)


def newest(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """As many of the last minibatches as it takes to have so many articles."""
    kept = (*before, latest)
    while sum(one.articles for one in kept[1:]) >= NEWEST:
        kept = kept[1:]
    return kept


def mean(of: Sequence[Scored], number: int) -> float | None:
    """Nats a word, for the model of this number."""
    words = sum(one.words for one in of)
    return sum(one.nats[number] for one in of) / words if words else None
