"""The data of an LDAvis page: topics as a map, and the words that tell each apart.

The same as pyLDAvis 3.4 makes of the same topics, shares and vocabulary, in the same order; after Sievert and
Shirley 2014, *LDAvis: A method for visualizing and interpreting topics*. The only difference is that the map
shows Hellinger distances, which take one matrix product: pyLDAvis's Jensen-Shannon divergences need K^2 W
logarithms. K topics, W words. The largest topic is number 1 here; `topic.order` has the numbers used
elsewhere, plus 1.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.coherence import classical_scaling

WORDS = 30
"""R: the words shown for a topic."""
STEP = 0.01
"""The step of lambda, the weight of a word's probability against its lift."""


def prepare(
    topics: NDArray[Any], shares: NDArray[Any], words: Sequence[str], tokens: int
) -> dict[str, object]:
    """LDAvis's object for topics (K, W) whose rows sum to 1, with these shares (K,) of this many words."""
    order = np.argsort(-shares, kind="stable")
    beta, share = topics[order].astype(np.float64), shares[order].astype(np.float64)
    expected = beta * (share * tokens)[:, None]  # how often each word occurs in each topic
    frequency = expected.sum(axis=0)
    x, y = classical_scaling(distances(beta)).T.tolist()
    rows = list(_listed(beta, share, expected))
    return {
        "mdsDat": {
            "x": x,
            "y": y,
            "topics": list(range(1, len(beta) + 1)),
            "cluster": [1] * len(beta),
            "Freq": (share * 100).tolist(),
        },
        "tinfo": _columns(
            "Term Freq Total Category logprob loglift", [(words[i], *values) for i, *values in rows]
        ),
        "token.table": _columns(
            "Topic Freq Term", list(_tokens({i for i, *_ in rows}, expected, frequency, words))
        ),
        "R": min(WORDS, len(words)),
        "lambda.step": STEP,
        "plot.opts": {"xlab": "PC1", "ylab": "PC2"},
        "topic.order": (order + 1).tolist(),
    }


def _columns(names: str, rows: Iterable[Sequence[object]]) -> dict[str, list[object]]:
    """The rows as LDAvis has them: a list for each column."""
    table: dict[str, list[object]] = {name: [] for name in names.split()}
    for row in rows:
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    return table


def _listed(beta: NDArray[Any], share: NDArray[Any], expected: NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """The words that can be shown, list after list: (id, Freq, Total, Category, logprob, loglift)."""
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
    """(W,) how much a word says about the topic, weighted by its frequency."""
    of_word = beta / beta.sum(axis=0)
    share = np.maximum(share, np.finfo(share.dtype).tiny)  # a topic that never had a word has none
    distinct = (of_word * np.log(of_word / share[:, None])).sum(axis=0)
    return np.asarray(distinct * frequency / frequency.sum())


def _relevant(log_beta: NDArray[Any], log_lift: NDArray[Any], R: int) -> list[int]:
    """Ids of a topic's R most relevant words at any lambda, in the order in which they come up."""
    ids: dict[int, None] = {}
    for weight in np.arange(0, 1 + STEP, STEP).tolist():
        relevance = weight * log_beta + (1 - weight) * log_lift
        top = np.argpartition(relevance, -R)[-R:]
        ids.update(dict.fromkeys(top[np.lexsort((top, -relevance[top]))].tolist()))
    return list(ids)


def _tokens(
    ids: Collection[int], expected: NDArray[Any], frequency: NDArray[Any], words: Sequence[str]
) -> Iterator[tuple[int, float, str]]:
    """`token.table`: each topic's part of a word's occurrences, if that is at least one."""
    for i in sorted(ids, key=words.__getitem__):
        for topic in np.flatnonzero(expected[:, i] >= 0.5).tolist():
            yield topic + 1, float(expected[topic, i].round() / frequency[i]), words[i]


def distances(beta: NDArray[Any]) -> NDArray[Any]:
    """(K, K) Hellinger distances, 0 to 1, between topics (K, W) whose rows sum to 1."""
    roots = np.sqrt(beta)
    far = np.sqrt(np.clip(1 - roots @ roots.T, 0, None))
    np.fill_diagonal(far, 0)
    return np.asarray(far)
