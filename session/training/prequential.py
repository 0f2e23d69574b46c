"""How well models predict the newest articles of the stream before these are trained.

Held-out articles are the oldest ones. In a changing stream they say less and less, while a model should be
good at predicting the next articles.
"""

from collections.abc import Sequence

from wikitopics.model import CompletionSet, Minibatch, OnlineModel
from wikitopics.session.storage.codec.progress import Scored

NEWEST = 1000
"""The number of articles in the mean, in whole minibatches."""
SAMPLE = 256
"""The most articles of a minibatch that are scored, the first ones: all would take longer than training."""


def scored(models: Sequence[OnlineModel], batch: Minibatch, seed: int) -> Scored:
    """The models' scores on a minibatch that they have not learnt yet, by document completion.

    The models do not change, nor do their random numbers.
    """
    completion = CompletionSet(batch[:SAMPLE], seed)
    words = int(completion.hidden.n_tokens)
    nats = tuple(float(completion.score(model)) * words if words else 0.0 for model in models)
    return Scored(batch.D, words, nats)


def newest(before: Sequence[Scored], latest: Scored) -> tuple[Scored, ...]:
    """The last minibatches, as many as are needed to have enough articles."""
    kept = (*before, latest)
    while sum(one.articles for one in kept[1:]) >= NEWEST:
        kept = kept[1:]
    return kept
