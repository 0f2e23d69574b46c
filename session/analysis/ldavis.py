"""The data of an LDAvis page: topics as a map, and the words that tell each apart.

The result is that of pyLDAvis 3.4 for the same topics, shares and vocabulary, in the same order
(Sievert and Shirley 2014, *LDAvis: A method for visualizing and interpreting topics*). The only
difference is that the map shows Hellinger distances: pyLDAvis's Jensen-Shannon divergences need
K^2 W logarithms (K topics, W words). The largest topic is number 1 here; `topic.order` has the
numbers used elsewhere, plus 1.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.distances import classical_scaling

WORDS = 30
"""R: the number of words shown for a topic."""
STEP = 0.01
"""The step of lambda, the weight of a word's probability against its lift."""


def ldavis(
    topics: NDArray[Any],
    shares: NDArray[Any],
    words: Sequence[str],
    tokens: int,
) -> dict[str, object]:
    """LDAvis's object for topics (K, W) whose rows sum to 1, and their shares (K,) of ``tokens``
    words."""
    from scipy.spatial.distance import pdist, squareform

    order = np.argsort(-shares, kind="stable")
    beta = topics[order].astype(np.float64)
    share = shares[order].astype(np.float64)
    expected = beta * (share * tokens)[:, None]  # expected occurrences of each word in each topic
    frequency = expected.sum(axis=0)
    hellinger = squareform(pdist(np.sqrt(beta))) / np.sqrt(2)
    x, y = classical_scaling(hellinger).T.tolist()
    listed = list(_listed(beta, share, expected))
    ids = {id for id, *_ in listed}
    return {
        "mdsDat": {
            "x": x,
            "y": y,
            "topics": list(range(1, len(beta) + 1)),
            "cluster": [1] * len(beta),
            "Freq": (share * 100).tolist(),
        },
        "tinfo": _columns(
            ("Term", "Freq", "Total", "Category", "logprob", "loglift"),
            [(words[id], *values) for id, *values in listed],
        ),
        "token.table": _columns(
            ("Topic", "Freq", "Term"), list(_tokens(ids, expected, frequency, words))
        ),
        "R": min(WORDS, len(words)),
        "lambda.step": STEP,
        "plot.opts": {"xlab": "PC1", "ylab": "PC2"},
        "topic.order": (order + 1).tolist(),
    }


def _columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, list[object]]:
    """The rows as LDAvis stores them: a list for each column."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def _listed(
    beta: NDArray[Any], share: NDArray[Any], expected: NDArray[Any]
) -> Iterator[tuple[Any, ...]]:
    """The words that can be shown, list after list: (id, Freq, Total, Category, logprob,
    loglift)."""
    frequency = expected.sum(axis=0)
    R = min(WORDS, len(frequency))
    salient = np.argsort(-_saliency(beta, share, frequency), kind="stable")[:R]
    # Of these, which are shown while no topic is chosen, the logarithms only give the order.
    for place, id in enumerate(salient.tolist()):
        count = float(np.floor(frequency[id]))
        rank = float(R - place)
        yield id, count, count, "Default", rank, rank
    log_beta = np.log(beta)
    log_lift = np.log(beta / (frequency / frequency.sum()))
    for topic in range(len(beta)):
        for id in _relevant(log_beta[topic], log_lift[topic], R):
            yield (
                id,
                float(expected[topic, id]),
                float(frequency[id]),
                f"Topic{topic + 1}",
                float(log_beta[topic, id].round(4)),
                float(log_lift[topic, id].round(4)),
            )


def _saliency(beta: NDArray[Any], share: NDArray[Any], frequency: NDArray[Any]) -> NDArray[Any]:
    """(W,) how much a word tells about the topic, weighted by the word's frequency."""
    topics_of_word = beta / beta.sum(axis=0)
    # A topic that never had a word has share 0.
    share = np.maximum(share, np.finfo(share.dtype).tiny)
    distinctiveness = (topics_of_word * np.log(topics_of_word / share[:, None])).sum(axis=0)
    return np.asarray(distinctiveness * frequency / frequency.sum())


def _relevant(log_beta: NDArray[Any], log_lift: NDArray[Any], R: int) -> list[int]:
    """Ids of all words that are among a topic's R most relevant at some lambda, as lambda goes from
    0 to 1, each where it first is among them."""
    ids: dict[int, None] = {}
    for weight in np.arange(0, 1 + STEP, STEP).tolist():
        relevance = weight * log_beta + (1 - weight) * log_lift
        top = np.argpartition(relevance, -R)[-R:]
        most_relevant_first = np.lexsort((top, -relevance[top]))
        ids.update(dict.fromkeys(top[most_relevant_first].tolist()))
    return list(ids)


def _tokens(
    ids: Collection[int],
    expected: NDArray[Any],
    frequency: NDArray[Any],
    words: Sequence[str],
) -> Iterator[tuple[int, float, str]]:
    """`token.table`: each topic's part of a word's occurrences, where these round to one or
    more."""
    for id in sorted(ids, key=words.__getitem__):
        for topic in np.flatnonzero(expected[:, id] >= 0.5).tolist():
            occurrences = expected[topic, id].round()
            yield topic + 1, float(occurrences / frequency[id]), words[id]
