"""The data of an LDAvis page: topics as a map, and the words that tell each apart.

The result is that of pyLDAvis 3.4 for the same topics, shares and vocabulary, in the same order
(Sievert and Shirley 2014, *LDAvis: A method for visualizing and interpreting topics*). The only
difference is that the map shows Hellinger distances: pyLDAvis's Jensen-Shannon divergences need
K^2 W logarithms (K topics, W words). The largest topic is number 1 here; `topic.order` has the
numbers used elsewhere, plus 1.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
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
    beta, share = topics[order].astype(np.float64), shares[order].astype(np.float64)
    expected = beta * (share * tokens)[:, None]  # expected occurrences of each word in each topic
    frequency = expected.sum(axis=0)
    x, y = classical_scaling(squareform(pdist(np.sqrt(beta))) / np.sqrt(2)).T.tolist()
    rows = list(_listed(beta, share, expected))
    terms = [(words[i], *values) for i, *values in rows]
    parts = list(_tokens({i for i, *_ in rows}, expected, frequency, words))
    numbers = {"topics": list(range(1, len(beta) + 1)), "cluster": [1] * len(beta)}
    return {
        "mdsDat": {"x": x, "y": y, **numbers, "Freq": (share * 100).tolist()},
        "tinfo": _columns("Term Freq Total Category logprob loglift", terms),
        "token.table": _columns("Topic Freq Term", parts),
        "R": min(WORDS, len(words)),
        "lambda.step": STEP,
        "plot.opts": {"xlab": "PC1", "ylab": "PC2"},
        "topic.order": (order + 1).tolist(),
    }


def _columns(names: str, rows: Iterable[Sequence[object]]) -> dict[str, list[object]]:
    """The rows as LDAvis stores them: a list for each column."""
    columns = [*map(list, zip(*rows, strict=True))] or [[] for _ in names.split()]
    return dict(zip(names.split(), columns, strict=True))


def _listed(
    beta: NDArray[Any], share: NDArray[Any], expected: NDArray[Any]
) -> Iterator[tuple[Any, ...]]:
    """The words that can be shown, list after list: (id, Freq, Total, Category, logprob,
    loglift)."""
    frequency = expected.sum(axis=0)
    R = min(WORDS, len(frequency))
    salient = np.argsort(-_saliency(beta, share, frequency), kind="stable")[:R].tolist()
    for rank, i in zip(np.arange(R, 0, -1.0).tolist(), salient, strict=True):
        count = float(np.floor(frequency[i]))
        yield i, count, count, "Default", rank, rank
    log_beta, log_lift = np.log(beta), np.log(beta / (frequency / frequency.sum()))
    for topic in range(len(beta)):
        for i in _relevant(log_beta[topic], log_lift[topic], R):
            logs = float(log_beta[topic, i].round(4)), float(log_lift[topic, i].round(4))
            yield i, float(expected[topic, i]), float(frequency[i]), f"Topic{topic + 1}", *logs


def _saliency(beta: NDArray[Any], share: NDArray[Any], frequency: NDArray[Any]) -> NDArray[Any]:
    """(W,) how much a word tells about the topic, weighted by the word's frequency."""
    of_word = beta / beta.sum(axis=0)
    share = np.maximum(
        share, np.finfo(share.dtype).tiny
    )  # a topic that never had a word has share 0
    distinct = (of_word * np.log(of_word / share[:, None])).sum(axis=0)
    return np.asarray(distinct * frequency / frequency.sum())


def _relevant(log_beta: NDArray[Any], log_lift: NDArray[Any], R: int) -> list[int]:
    """Ids of all words that are among a topic's R most relevant at any lambda, as lambda goes from
    0 to 1."""
    ids: dict[int, None] = {}
    for weight in np.arange(0, 1 + STEP, STEP).tolist():
        relevance = weight * log_beta + (1 - weight) * log_lift
        top = np.argpartition(relevance, -R)[-R:]
        ids.update(dict.fromkeys(top[np.lexsort((top, -relevance[top]))].tolist()))
    return list(ids)


def _tokens(
    ids: Collection[int],
    expected: NDArray[Any],
    frequency: NDArray[Any],
    words: Sequence[str],
) -> Iterator[tuple[int, float, str]]:
    """`token.table`: each topic's part of a word's occurrences, where these round to one or
    more."""
    for i in sorted(ids, key=words.__getitem__):
        for topic in np.flatnonzero(expected[:, i] >= 0.5).tolist():
            yield topic + 1, float(expected[topic, i].round() / frequency[i]), words[i]
