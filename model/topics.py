"""Describing topics: their coherence, their distances, their names, and what happens to them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import IN_USE, top_words

# Topic coherence: how often a topic's leading words occur together in real documents (normalised
# PMI).


def npmi(topics: NDArray[Any], reference: Minibatch, n: int = 10) -> NDArray[np.float64]:
    """(K,) coherence of each topic: the mean NPMI of all pairs of its n most probable words, within
    [-1, 1].

    NPMI of two words is log(p12 / (p1 p2)) / -log p12, where the p are the shares of `reference`'s
    documents
    that contain the first word, the second and both: 1 if they always occur together, 0 if they are
    independent, -1 if they never do. A word missing from `reference` never occurs with another.
    Documents without words are ignored. NaN if there are no documents or no pairs.

    topics: (K, W). Raises ValueError for a word id of `reference` out of range.
    """
    reference.check_words(topics.shape[1])
    return npmi_of_words(top_words(topics, n), reference)


def npmi_of_words(leading: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.float64]:
    """(K,) as `npmi`, for topics given by their leading words, (K, n) word ids."""
    K, n = leading.shape
    D = int(np.count_nonzero(np.diff(reference.indptr)))
    if D == 0 or n < 2:
        return np.full(K, np.nan)
    occurs = _occurrences(leading, reference)
    first, second = np.triu_indices(n, 1)
    single = _numbers_of_documents(occurs) / D
    coherence = np.empty(K)
    for k in range(K):
        together = occurs[k, first] & occurs[k, second]
        both = _numbers_of_documents(together) / D
        coherence[k] = _npmi(single[k, first], single[k, second], both).mean()
    return coherence


def _numbers_of_documents(occurs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many documents' bits are set in the last dimension."""
    numbers: NDArray[np.int64] = np.bitwise_count(occurs).sum(axis=-1, dtype=np.int64)
    return numbers


def _occurrences(words: NDArray[np.integer[Any]], reference: Minibatch) -> NDArray[np.uint8]:
    """(K, n, ceil(D/8)) one bit per document for each word of (K, n): whether the document contains
    it."""
    distinct, row_of_word = np.unique(words, return_inverse=True)
    largest = max(distinct.max(), reference.word_ids.max(initial=0))
    row_of_id = np.full(largest + 1, -1)
    row_of_id[distinct] = np.arange(len(distinct))
    row_of_entry = row_of_id[reference.word_ids]
    known = row_of_entry >= 0
    occurs = np.zeros((len(distinct), reference.D), dtype=np.bool_)
    occurs[row_of_entry[known], reference.documents()[known]] = True
    bits = np.packbits(occurs, axis=1)
    of_words: NDArray[np.uint8] = bits[row_of_word.reshape(words.shape)]
    return of_words


def _npmi(
    p1: NDArray[np.float64], p2: NDArray[np.float64], p12: NDArray[np.float64]
) -> NDArray[np.float64]:
    values = np.full(len(p12), -1.0)
    some = (p12 > 0) & (p12 < 1)
    values[some] = np.log(p12[some] / (p1[some] * p2[some])) / -np.log(p12[some])
    values[p12 == 1] = 1.0
    return values


# Comparing topics by their leading words: how far each has moved, and how far apart they are.

Leading = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(K, n) word ids and probabilities of each topic's n most probable words."""


def drift(before: Leading, after: Leading) -> NDArray[np.float64]:
    """(K,) total variation distance of each topic from its earlier self, over its leading words.

    The probabilities of the leading words are scaled to sum to 1, so the distance lies within [0,
    1]: the share that has moved to other words. ``before`` and ``after`` may have different numbers
    of leading words. Raises ValueError for different numbers of topics.
    """
    ids_before, probabilities_before = before
    ids_after, probabilities_after = after
    if len(ids_before) != len(ids_after):
        raise ValueError(
            f"{len(ids_before)} topics before and {len(ids_after)} after are not of one model"
        )
    same = ids_before[:, :, None] == ids_after[:, None, :]
    scaled_before = _scaled(probabilities_before)
    scaled_after = _scaled(probabilities_after)
    smaller = np.minimum(scaled_before[:, :, None], scaled_after[:, None, :])
    stayed: NDArray[np.float64] = np.where(same, smaller, 0.0).sum(axis=(1, 2))
    return 1.0 - stayed


def affinity(ones: Leading, others: Leading, topic: int) -> NDArray[np.float64]:
    """(K,) how much the leading words of ``ones`` have in common with those of ``topic`` in
    ``others``.

    These are Bhattacharyya coefficients: 1 for the same words and probabilities, 0 if no word is
    shared.
    """
    ids, probabilities = ones
    ids_of_others, probabilities_of_others = others
    topic_ids = ids_of_others[topic]
    largest = max(int(topic_ids.max()), int(ids.max()))
    roots = np.zeros(largest + 1)  # of the probabilities of all words in `topic`
    roots[topic_ids] = np.sqrt(_scaled(probabilities_of_others[topic]))
    overlap: NDArray[np.float64] = (np.sqrt(_scaled(probabilities)) * roots[ids]).sum(axis=-1)
    return overlap


def distances(leading: Leading) -> NDArray[np.float64]:
    """(K, K) Hellinger distances, 0 to 1, of the topics' leading words."""
    ids, _ = leading
    near = np.stack([affinity(leading, leading, topic) for topic in range(len(ids))])
    far: NDArray[np.float64] = np.sqrt(np.clip(1 - near, 0, 1))
    np.fill_diagonal(far, 0)
    return far


def classical_scaling(far: NDArray[Any], dimensions: int = 2) -> NDArray[np.float64]:
    """(K, dimensions) places by classical scaling, whose distances approximate ``far``.

    far: (K, K) symmetric distances. Torgerson 1952: the leading eigenvectors of the doubly centred
    squares, each as long as the root of its eigenvalue. The matrix is symmetric and solved as such,
    so all results are real. The first axis has the largest spread, and each axis points towards its
    largest component.
    """
    from scipy.linalg import eigh

    K = len(far)
    places = np.zeros((K, dimensions))
    n = min(dimensions, K)
    if not n:
        return places
    squares = np.square(far, dtype=np.float64)
    rows = squares.mean(axis=0)
    centred = -0.5 * (squares - rows - rows[:, None] + rows.mean())
    values, vectors = eigh((centred + centred.T) / 2, subset_by_index=(K - n, K - 1))
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n)]
    signs = np.where(largest < 0, -1, 1)
    lengths = np.sqrt(np.clip(values, 0, None))
    axes = vectors * signs * lengths  # in the order of their eigenvalues, the smallest first
    places[:, :n] = axes[:, ::-1]
    return places


def _scaled(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    numbers = probabilities.astype(np.float64)
    return _shares(numbers, numbers.sum(axis=-1, keepdims=True))


def _shares(numbers: NDArray[np.float64], total: NDArray[Any]) -> NDArray[np.float64]:
    """numbers / total, and 0 where the total is 0."""
    shares: NDArray[np.float64] = np.divide(
        numbers,
        total,
        out=np.zeros_like(numbers),
        where=total > 0,
    )
    return shares


# Names of topics: the leading words that tell a topic apart from the others.

RELEVANCE = 0.6
"""The weight of a word's probability against its lift: lambda in [Sievert and Shirley 2014].
docs/topics.md says how it was chosen."""
WORDS = 3
"""Words in a name."""
SUITING = 2
"""This many of a shown name's words are among the topic's most probable ones."""
LOYALTY = 10
"""A name is kept while its words are among this many of the topic's most relevant ones."""


def ownership(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) each topic's share of the uses of its leading words in all topics that lead with them.

    1 for a word that leads no other topic. shares: (K,) of the corpus
    """
    ids, _ = leading
    uses = _uses(leading, shares)
    of_words = np.bincount(ids.ravel(), uses.ravel(), minlength=1)
    return _shares(uses, of_words[ids])


def _uses(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K, n) how often a topic's leading words are used in it, as a share of the corpus."""
    _, probabilities = leading
    of_topics = np.asarray(shares, np.float64)
    uses: NDArray[np.float64] = probabilities.astype(np.float64) * of_topics[:, None]
    return uses


def distinctness(leading: Leading, shares: NDArray[Any]) -> NDArray[np.float64]:
    """(K,) how distinct each topic's words are: `ownership` of its leading words, weighted by their
    uses.

    Near 1 / K while all topics are alike, near 1 for a topic whose words lead no other.
    """
    _, probabilities = leading
    uses = probabilities.astype(np.float64)
    own = ownership(leading, shares) * uses
    return _shares(own.sum(axis=1), uses.sum(axis=1))


def relevance(
    leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE
) -> NDArray[np.float64]:
    """(K, n) how well each leading word represents its topic.

    weight log p(w|k) + (1 - weight) log (p(w|k) / p(w)); p(w) is taken from the topics that lead
    with the word. -inf for a word without probability.
    """
    _, probabilities = leading
    of_topic = probabilities.astype(np.float64) ** weight
    # p(w|k) / p(w) = p(k|w) / share_k, and a topic's share does not change the order of its words.
    lift = ownership(leading, shares) ** (1 - weight)
    with np.errstate(divide="ignore"):
        fit: NDArray[np.float64] = np.log(of_topic * lift)
    return fit


def by_relevance(leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE) -> Leading:
    """The same words, the most relevant first; ties stay in their order."""
    ids, probabilities = leading
    order = np.argsort(-relevance(leading, shares, weight), axis=1, kind="stable")
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(probabilities, order, axis=1)


def most_relevant(
    leading: Leading, shares: NDArray[Any], weight: float = RELEVANCE
) -> NDArray[np.int32]:
    """(K, n) the leading words by id, the most relevant first."""
    ids, _ = by_relevance(leading, shares, weight)
    return ids


def most_relevant_to(
    groups: Sequence[Sequence[int]], leading: Leading, shares: NDArray[Any]
) -> list[NDArray[np.int64]]:
    """The leading words of each group's topics, by id, those most relevant to the group first."""
    ids, _ = leading
    uses = _uses(leading, shares)
    total = np.bincount(ids.ravel(), uses.ravel())
    words_of_groups = []
    for group in groups:
        topics = list(group)
        used = np.bincount(ids[topics].ravel(), uses[topics].ravel(), len(total))
        words = np.flatnonzero(used)
        # As in `relevance`; the group's share does not change the order either.
        lift = used[words] / total[words]
        fit = RELEVANCE * np.log(used[words]) + (1 - RELEVANCE) * np.log(lift)
        words_of_groups.append(words[np.argsort(-fit, kind="stable")])
    return words_of_groups


def name(relevant: Sequence[str]) -> tuple[str, ...]:
    """The words of a topic's name.

    ``relevant``: the topic's words, the most relevant first. Of two forms of a word ("film",
    "films") only the first counts.
    """
    chosen: list[str] = []
    for word in relevant:
        if not any(_same_word(word, other) for other in chosen):
            chosen.append(word)
        if len(chosen) == WORDS:
            break
    return tuple(chosen)


def fits(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all but one of a name's words are among the first of ``relevant``, given as words or
    ids."""
    kept = set(name) & set(relevant[:LOYALTY])
    return len(kept) >= max(1, len(name) - 1)


def holds(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all words of a name are among the first of ``relevant``, given as words or ids."""
    return set(name) <= set(relevant[:LOYALTY])


def suits(name: Sequence[Hashable], leading: Sequence[Hashable]) -> bool:
    """Whether at least two of a name's words are among ``leading``, the topic's most probable ones;
    a name of one word always suits."""
    shared = set(name) & set(leading)
    return len(name) < SUITING or len(shared) >= SUITING


def _same_word(one: str, other: str) -> bool:
    """Whether two words differ only in their last letters: "film" and "films", "party" and
    "parties".

    Titles, which have capitals, differ even then: "Iran" and "Iraq".
    """
    if one != one.lower():
        return False
    short, long = sorted((one, other), key=len)
    if len(short) < 3 or len(long) - len(short) > 2:
        return False
    stem = short[: max(3, len(short) - 1)]
    return long.startswith(stem)


# Topics that nearly repeat another topic.

NEAR = 0.5
"""The Hellinger distance of leading words up to which two topics have the same subject:
docs/topics.md."""


class Repeat(NamedTuple):
    """A topic, and the larger one that it nearly repeats."""

    topic: int
    of: int


def repeats(leading: Leading, shares: NDArray[np.floating]) -> list[Repeat]:
    """The topics in use that nearly repeat a larger one, the closest pairs first.

    Of two equally large topics, the later repeats the earlier. A topic close to several repeats the
    nearest.
    """
    ids, probabilities = leading
    n_in_use = int(np.count_nonzero(shares > IN_USE))
    largest_first = np.argsort(-shares, kind="stable")[:n_in_use]
    if n_in_use < 2:
        return []
    far = distances((ids[largest_first], probabilities[largest_first]))
    far[np.triu_indices(n_in_use)] = np.inf  # only larger topics are repeated
    distance = far.min(axis=1)
    nearest = far.argmin(axis=1)
    found = []
    for place in np.argsort(distance, kind="stable"):
        if distance[place] <= NEAR:
            topic = largest_first[place]
            of = largest_first[nearest[place]]
            found.append(Repeat(int(topic), int(of)))
    return found


# What happens to the topics of a model between looks: births, deaths, splits, mergers and
# renamings.

Kind = Literal["born", "died", "split", "merged", "renamed"]
LOOKS = 3
"""Looks in a row at which a change must hold before it is reported."""
LARGEST = 30
"""A topic must be among this many of the largest to be born."""
OWN = 0.25
"""A topic's first words become its own when their mean ownership reaches this, and remain so until
it falls below a third of it."""
FIRST = 10
"""The number of first words in that mean."""
KINSHIP = 0.5
"""The affinity from which one topic's words count as gone to another."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a topic.

    born: it has become large, with words of its own. died: its share has fallen to half the
    threshold of topics in use, or its words have gone to other topics.
    split: ``other`` is born with words that this topic had. merged: it died, and ``other`` has its
    words.
    renamed: its words have changed so much that it has a new name.
    """

    kind: Kind
    topic: int
    other: int | None = None


class TopicState:
    """The topics of a model at one moment."""

    def __init__(self, leading: Leading, shares: NDArray[Any]) -> None:
        """``shares``: (K,) of the corpus."""
        self.leading = leading
        self.relevant = most_relevant(leading, shares)
        of_first_words = ownership(leading, shares)[:, :FIRST]
        owned = of_first_words.mean(axis=1)
        largest = np.sort(shares)[-LARGEST:]
        large = shares >= largest.min()
        self.up: NDArray[np.bool_] = large & (shares > IN_USE) & (owned >= OWN)
        """(K,) whether a topic qualifies for birth."""
        self.down: NDArray[np.bool_] = (shares < IN_USE / 2) | (owned < OWN / 3)
        """(K,) whether a topic qualifies for death."""


def changes(looks: Sequence[TopicState], alive: Collection[int]) -> list[Change]:
    """The changes that hold at each of these looks; births first, then by topic number.

    alive: the topics born and not yet dead.
    """
    if len(looks) < LOOKS:
        return []
    first, *_, last = looks
    living = np.isin(np.arange(len(last.up)), list(alive))
    up = np.all([look.up for look in looks], axis=0)
    down = np.all([look.down for look in looks], axis=0)
    stay = living & ~down
    events = []
    for topic in np.flatnonzero(up & ~living).tolist():
        name = last.relevant[topic, :WORDS].tolist()
        if not all(fits(name, look.relevant[topic].tolist()) for look in looks):
            continue
        parent = _kin(first, last, topic, stay)
        if parent is None:
            events.append(Change("born", topic))
        else:
            events.append(Change("split", parent, topic))
    for topic in np.flatnonzero(living & down).tolist():
        heir = _kin(last, first, topic, stay)
        if heir is None:
            events.append(Change("died", topic))
        else:
            events.append(Change("merged", topic, heir))
    return events


def living(alive: Collection[int], events: Collection[Change]) -> set[int]:
    """The topics alive after these changes."""
    born = {change.topic for change in events if change.kind == "born"}
    split = {
        change.other for change in events if change.kind == "split" and change.other is not None
    }
    ended = {change.topic for change in events if change.kind in ("died", "merged")}
    return (set(alive) | born | split) - ended


def _kin(
    theirs: TopicState,
    own: TopicState,
    topic: int,
    candidates: NDArray[np.bool_],
) -> int | None:
    """The candidate whose leading words in ``theirs`` have most in common with ``topic``'s in
    ``own``, if they have enough."""
    near = affinity(theirs.leading, own.leading, topic)
    near[~candidates] = 0
    near[topic] = 0
    nearest = int(near.argmax())
    return nearest if near[nearest] >= KINSHIP else None
