"""The topics of a stored session: records of them, how coherent they are, and which repeat
others."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import Minibatch
from wikitopics.model.coherence import npmi_of_words
from wikitopics.model.distances import classical_scaling, repeats
from wikitopics.model.relevance import ownership
from wikitopics.session.analysis.areas import atlas, topic_tree
from wikitopics.session.metrics import OF_STREAM, OF_TOPICS, SCORES, Metric
from wikitopics.session.records import COHERENT_WORDS, SNAPSHOT_WORDS, in_line
from wikitopics.session.settings import own_metrics
from wikitopics.session.sources import REPORT
from wikitopics.session.storage.reader import SessionReader

NAMED = 5
"""The most pairs of repeating topics that are named; of more, the number is enough."""


@dataclass(frozen=True, slots=True, repr=False)
class Topic:
    """A topic as of the newest snapshot."""

    number: int
    """Topics are numbered from 0, the same in every command and export."""
    name: str
    """The name given to it, otherwise the words that tell it apart."""
    share: float
    """Its share of the words of the corpus."""
    words: tuple[str, ...]
    """Its most probable words (20 are kept), most probable first."""
    probabilities: tuple[float, ...]
    """The probability in this topic of each of `words`."""
    npmi: float | None
    """How strongly its ten leading words occur together in held-out articles, -1 to 1; None if
    there are none."""
    in_use: bool
    """Whether it has more than a thousandth of the corpus."""
    parent: int | None
    """The group of topics that it belongs to, numbered as in `wikitopics topics --tree`; None for a
    lone topic, and for one that is not in use."""
    own: tuple[float, ...]
    """For each of `words`: this topic's share of its uses in all topics that have it among their
    words."""
    area: int | None
    """The number of its area; None for a topic that is not in use."""
    area_name: str | None
    """The name of its area."""
    hidden: bool
    """Whether lists and the report leave it out (`wikitopics topics hide`)."""

    def __repr__(self) -> str:
        return f"<Topic {self.number} {self.name!r}, {self.share:.1%}: {in_line(self.words[:10])}>"

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import page

        heading = page.noted(f"#{self.number} {self.name}, {self.share:.1%} of all words")
        words = list(zip(self.words, self.probabilities, self.own, strict=True))
        return page.framed(heading, page.described(words))


def described_topics(reader: SessionReader, model: str) -> list[Topic]:
    """All topics by number, as of the newest snapshot; empty before the first."""
    from wikitopics.model.online import IN_USE

    with reader.one_moment():
        rows, newest = reader.topics(model, SNAPSHOT_WORDS), reader.newest_words(model)
        npmi, tree = coherences(reader, model), topic_tree(reader, model)
        grouping = atlas(reader, model)
    area_of = {} if grouping is None else grouping.area_of
    own = [] if newest is None else map(tuple, ownership(newest.leading, newest.shares).tolist())
    topics = []
    for row, value, branch, parts in zip(rows, npmi, tree, own, strict=False):
        words, probabilities = zip(*row.words, strict=True)
        area = area_of.get(row.topic)
        place = (None, None) if area is None else (area.number, area.name)
        of_all = value, row.share > IN_USE, branch.parent, parts, *place, row.hidden
        topics.append(Topic(row.topic, row.name, row.share, words, probabilities, *of_all))
    return topics


# The metrics that a session's curves can show.


def metrics_of(reader: SessionReader) -> tuple[Metric, ...]:
    """The metrics of a session's models; those measured by kinds that are no longer installed come
    last."""
    own = [metric for spec in reader.settings().models for metric in own_metrics(spec.kind)]
    recorded = reader.metric_names()
    of_stream = (metric for metric in OF_STREAM if metric.name in recorded)
    declared = {metric.name: metric for metric in (*SCORES, *of_stream, *own, *OF_TOPICS)}
    others = [Metric.undeclared(name) for name in recorded if name not in declared]
    return (*declared.values(), *others)


def coherences(reader: SessionReader, model: str) -> list[float | None]:
    """NPMI of each topic's leading words over the held-out articles; the trainer measures the mean
    of these.

    As of the newest snapshot; empty before the first. A topic has None if no articles are held out.
    """
    newest = reader.newest_words(model)
    if newest is None:
        return []
    held_out = reader.held_out()
    reference = Minibatch(held_out.indptr, held_out.word_ids, held_out.counts)
    values = npmi_of_words(newest.word_ids[:, :COHERENT_WORDS], reference).tolist()
    return [value if np.isfinite(value) else None for value in values]


def repeats_in_words(reader: SessionReader, model: str) -> str:
    """The topics that nearly repeat another as of the newest snapshot, in one line for people.

    For example "3 topics nearly repeat another: 40 and 12, …"; "" for none.
    """
    newest = reader.newest_words(model)
    pairs = [] if newest is None else repeats(newest.leading, newest.shares)
    if not pairs:
        return ""
    listed = ", ".join(f"{topic} and {of}" for topic, of in pairs[:NAMED])
    topics = "1 topic nearly repeats" if len(pairs) == 1 else f"{len(pairs)} topics nearly repeat"
    return f"{topics} another: {listed}{', …' if len(pairs) > NAMED else ''}"


# The data of an LDAvis page: topics as a map, and the words that tell each apart.
#
# The result is that of pyLDAvis 3.4 for the same topics, shares and vocabulary, in the same order
# (Sievert
# and Shirley 2014, *LDAvis: A method for visualizing and interpreting topics*). The only difference
# is that
# the map shows Hellinger distances: pyLDAvis's Jensen-Shannon divergences need K^2 W logarithms (K
# topics, W words). The largest topic is number 1 here; `topic.order` has the numbers used
# elsewhere, plus 1.

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
