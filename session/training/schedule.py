"""The fixed rules of the stream: how large a minibatch is and when a model is measured.

Both depend on counts of articles alone, never on the clock, so that an interrupted run and an
undisturbed one do exactly the same.
"""

SHORTEST_INTERVAL = 2048
"""Articles between two measurements, at the least, once the doublings are far apart."""
FIRST = 64
"""Articles in the first minibatch, so that the first point of the curve comes within seconds."""


def minibatch_size(articles: int, batch_size: int) -> int:
    """Articles in the minibatch that follows ``articles`` trained ones.

    A quarter of what has been seen, in whole multiples of 64, at least 64 and at most ``batch_size``:
    minibatches grow by a quarter each until they reach ``batch_size``.
    """
    return min(batch_size, max(FIRST, articles // 4 // FIRST * FIRST))


def evaluation_due(minibatches: int, before: int, after: int, held_out: int) -> bool:
    """Whether to measure after minibatch number ``minibatches``, which took ``before`` to ``after`` articles.

    After minibatch 1, 2, 4, 8 … and then whenever another 50 times the held-out number of articles
    has been trained: that takes a few hundredths of the training in between, most for an HDP.
    """
    if minibatches & (minibatches - 1) == 0:
        return True
    interval = max(SHORTEST_INTERVAL, 50 * held_out)
    return before // interval != after // interval


def renewal_due(before: int, after: int) -> bool:
    """Whether the newest articles are inferred anew: each time the stream has doubled, from 1,024 on.

    That costs about as much as training them again, so it has to become rarer as the stream goes on.
    """
    return after >= 1024 and before.bit_length() != after.bit_length()


def thinned(articles: list[int], most: int) -> set[int]:
    """Which points of a curve may go once there are more than ``most``: every second one of the older half.

    The first point, the last half and the first points at or behind each power of two stay, so that the
    curve keeps its shape on a logarithmic axis and the history its 2,048, 4,096, 8,192 …
    """
    if len(articles) <= most:
        return set()
    doublings = {a.bit_length() for a in articles}
    stay = {next(a for a in articles if a.bit_length() == length) for length in doublings}
    older = [a for a in articles[: len(articles) // 2] if a not in stay]
    return set(older[::2])
