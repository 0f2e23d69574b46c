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
"""So many of a minibatch are scored, at most, the first ones: all would take longer than training them."""


def scored(models: Sequence[OnlineModel], batch: Minibatch, seed: int) -> Scored:
    """What the models say of a minibatch that they have not learnt yet, by document completion.

    They stay as they are, their random numbers too.
    """
    completion = CompletionSet(batch[:SAMPLE], seed)
    words = int(completion.hidden.n_tokens)
    nats = tuple(float(completion.score(model)) * words if words else 0.0 for model in models)
    return Scored(batch.D, words, nats)


def newest(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """As many of the last minibatches as it takes to have so many articles."""
    kept = (*before, latest)
    while sum(one.articles for one in kept[1:]) >= NEWEST:
        kept = kept[1:]
    return kept
