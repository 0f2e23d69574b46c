"""The data of an LDAvis page: topics as a map, and the words that tell each apart.

The same as pyLDAvis 3.4 makes of the same topics, shares and vocabulary, in the same order; after Sievert and
Shirley 2014, *LDAvis: A method for visualizing and interpreting topics*. The only difference is that the map
shows Hellinger distances, which take one matrix product: pyLDAvis's Jensen-Shannon divergences need K^2 W
logarithms. K topics, W words. The largest topic is number 1 here; `topic.order` has the numbers used
elsewhere, plus 1.
"""

from collections.abc import Collection, Sequence
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
    lists = _lists(beta, share, expected)
    ids = np.concatenate([one for _, one, _ in lists]).tolist()
    freq, total, logprob, loglift = np.concatenate([columns for _, _, columns in lists], axis=1).tolist()
    return {
        "mdsDat": {
            "x": x,
            "y": y,
            "topics": list(range(1, len(beta) + 1)),
            "cluster": [1] * len(beta),
            "Freq": (share * 100).tolist(),
        },
        "tinfo": {
            "Term": [words[i] for i in ids],
            "Freq": freq,
            "Total": total,
            "Category": [category for category, one, _ in lists for _ in one],
            "logprob": logprob,
            "loglift": loglift,
        },
        "token.table": _tokens(set(ids), expected, frequency, words),
        "R": min(WORDS, len(words)),
        "lambda.step": STEP,
        "plot.opts": {"xlab": "PC1", "ylab": "PC2"},
        "topic.order": (order + 1).tolist(),
    }


def _lists(
    beta: NDArray[Any], share: NDArray[Any], expected: NDArray[Any]
) -> list[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Every list of words that can be shown: its name, ids (n,), and Freq, Total, logprob, loglift (4, n)."""
    frequency = expected.sum(axis=0)
    R = min(WORDS, len(frequency))
    salient = np.argsort(-_saliency(beta, share, frequency), kind="stable")[:R]
    counts, ranks = np.floor(frequency[salient]), np.arange(R, 0, -1.0)
    lists = [("Default", salient, np.stack([counts, counts, ranks, ranks]))]
    log_beta, log_lift = np.log(beta), np.log(beta / (frequency / frequency.sum()))
    for number in range(len(beta)):
        top = _relevant(log_beta[number], log_lift[number], R)
        logs = log_beta[number, top].round(4), log_lift[number, top].round(4)
        lists.append((f"Topic{number + 1}", top, np.stack([expected[number, top], frequency[top], *logs])))
    return lists


def _saliency(beta: NDArray[Any], share: NDArray[Any], frequency: NDArray[Any]) -> NDArray[Any]:
    """(W,) how much a word says about the topic, weighted by its frequency."""
    of_word = beta / beta.sum(axis=0)
    share = np.maximum(share, np.finfo(share.dtype).tiny)  # a topic that never had a word has none
    distinct = (of_word * np.log(of_word / share[:, None])).sum(axis=0)
    return np.asarray(distinct * frequency / frequency.sum())


def _relevant(log_beta: NDArray[Any], log_lift: NDArray[Any], R: int) -> NDArray[Any]:
    """Ids of a topic's R most relevant words at any lambda, in the order in which they come up."""
    found: dict[int, None] = {}
    for weight in np.arange(0, 1 + STEP, STEP).tolist():
        relevance = weight * log_beta + (1 - weight) * log_lift
        top = np.argpartition(relevance, -R)[-R:]
        found.update(dict.fromkeys(top[np.lexsort((top, -relevance[top]))].tolist()))
    return np.array(list(found))


def _tokens(
    ids: Collection[int], expected: NDArray[Any], frequency: NDArray[Any], words: Sequence[str]
) -> dict[str, list[object]]:
    """`token.table`: each topic's part of a word's occurrences, if that is at least one."""
    table: dict[str, list[object]] = {"Topic": [], "Freq": [], "Term": []}
    for i in sorted(ids, key=words.__getitem__):
        counts = expected[:, i]
        having = np.flatnonzero(counts >= 0.5)
        table["Topic"] += (having + 1).tolist()
        table["Freq"] += (counts[having].round() / frequency[i]).tolist()
        table["Term"] += [words[i]] * len(having)
    return table


def distances(beta: NDArray[Any]) -> NDArray[Any]:
    """(K, K) Hellinger distances, 0 to 1, between topics (K, W) whose rows sum to 1."""
    roots = np.sqrt(beta)
    far = np.sqrt(np.clip(1 - roots @ roots.T, 0, None))
    np.fill_diagonal(far, 0)
    return np.asarray(far)
