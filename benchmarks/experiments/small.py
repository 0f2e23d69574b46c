"""Small collections: our models with their defaults beside peers at their best, with the same K.

Collections of 60 to 4,000 documents over words of their own: articles, docstrings and manual pages.
Each peer has the best of a few settings and passes, chosen on other documents of the same kind and
number. All topics are scored on the same held-out documents by one scorer, with the best of a few
symmetric priors.

The points `again_…` have collections of 1,000 to 20,000 documents: our models after several numbers
of passes beside Gibbs sampling until it gains no more. Coherence there is over the documents that
were learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.collections import SOURCES, Collection, collection
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import (
    best_score,
    compile_kernels,
    cpu_seconds,
    learn_all,
    learning_seconds,
    quality,
    readings,
)
from wikitopics.model import CompletionSet, kinds
from wikitopics.session.settings import default_topics
from wikitopics.session.training.defaults import default_passes

EXPERIMENT = Experiment(
    "small",
    "collections of 60 to 4,000 documents, beside other people's models",
    data="word counts, manual pages",
)
SPLITS = {60: 20, 300: 20, 1_000: 6, 4_000: 2}
"""Collections of each size."""
TopicsAndShares = tuple[NDArray[Any], NDArray[Any] | None]
"""(K, W) topics, and each one's share of the words if it is known."""


def ours(kind: str, of: Collection, seed: int) -> TopicsAndShares:
    """A model as a session with its defaults trains it."""
    cls = kinds.load(kind)
    documents = of.documents
    model = cls.create(default_topics(cls, documents.D), of.n_words, documents.D, seed=seed)
    passes = default_passes(documents.D)
    learn_all(model, readings(model, documents, passes, seed))
    return model.topics(), model.topic_shares()


def gensim(passes: int, eta: float | str, alpha: str, of: Collection, seed: int) -> TopicsAndShares:
    from gensim.models import LdaModel

    bows = [peers.bow(of.documents, d) for d in range(of.documents.D)]
    K = default_topics(kinds.load("lda"), of.documents.D)
    model = LdaModel(
        bows,
        K,
        id2word={word_id: str(word_id) for word_id in range(of.n_words)},
        passes=passes,
        alpha=alpha,
        eta=eta,
        eval_every=None,
        random_state=seed,
    )
    return model.get_topics(), None


def sklearn(passes: int, eta: float, alpha: float, of: Collection, seed: int) -> TopicsAndShares:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        default_topics(kinds.load("lda"), of.documents.D),
        doc_topic_prior=alpha,
        topic_word_prior=eta,
        max_iter=passes,
        random_state=seed,
    )
    model.fit(peers.csr(of.documents, of.n_words))
    return peers.normalised(model.components_), None


def tomotopy(passes: int, eta: float, alpha: float, of: Collection, seed: int) -> TopicsAndShares:
    """Gibbs sampling; alpha is optimised, and begins with the one given."""
    from tomotopy import LDAModel

    K = default_topics(kinds.load("lda"), of.documents.D)
    model = LDAModel(k=K, alpha=alpha, eta=eta, seed=seed + 1)
    peers.with_all(model, of.documents)
    model.train(passes, workers=1)
    return sampled(model, of)


def sampled(model: Any, of: Collection) -> TopicsAndShares:
    """What a model of tomotopy has found so far."""
    tokens = np.asarray(model.get_count_by_topics(), float)
    topics = peers.sampled_topics(model, range(model.k), of.n_words)
    return topics, tokens / tokens.sum()


Program = Callable[[Collection, int], TopicsAndShares]
OURS = ("lda", "scvb0", "hdp")
GENSIM_ETAS: tuple[float | str, ...] = ("auto", 0.1)
PEERS: Mapping[str, Sequence[Program]] = {
    "gensim": [
        partial(gensim, passes, eta, alpha)
        for eta, passes, alpha in product(GENSIM_ETAS, (10, 50), ("auto", "symmetric"))
    ],
    "scikit-learn": [
        partial(sklearn, passes, eta, alpha)
        for eta, passes, alpha in product((0.1, 0.3), (10, 50), (0.01, 0.1))
    ],
    "tomotopy": [
        partial(tomotopy, passes, eta, 0.1)
        for passes, eta in product((100, 1_000), (0.01, 0.03, 0.1, 0.3))
    ],
}
"""Each with all settings that are tried."""


class Judgement(NamedTuple):
    """Of the topics that a program finds. The results keep these figures in this order."""

    log_likelihood: float
    npmi: float
    distinct: float


def judged(program: Program, of: Collection, seed: int) -> Judgement:
    topics, shares = program(of, seed)
    coherence, distinct, _ = quality(topics, shares, of.reference)
    return Judgement(best_score(topics, CompletionSet(of.held_out)), coherence, distinct)


def tuned(programs: Sequence[Program], source: str, size: int) -> Program:
    """The program with the best likelihood on collections for tuning."""
    n_collections = 2 if size <= 1_000 else 1
    collections = [collection(source, size, seed, tuning=True) for seed in range(n_collections)]

    def total(program: Program) -> float:
        return sum(judged(program, of, 0).log_likelihood for of in collections)

    return max(programs, key=total)


def measured(source: str, size: int) -> Figures:
    """For each program, the figures of every collection: paired, since all have the same."""
    best = {name: tuned(choices, source, size) for name, choices in PEERS.items()}
    programs: dict[str, Program] = {kind: partial(ours, kind) for kind in OURS}
    programs |= best
    found: dict[str, list[Judgement]] = {name: [] for name in programs}
    for seed in range(SPLITS[size]):
        of = collection(source, size, seed)
        for name, program in programs.items():
            found[name].append(judged(program, of, seed))
    settings = {name: list(program.args) for name, program in best.items()}  # type: ignore[attr-defined]
    return {"settings": settings, **found}


for _source in SOURCES:
    for _size in SPLITS:
        _measure = partial(measured, _source, _size)
        EXPERIMENT.add(f"{_source}_{_size}", _measure, "gensim", "sklearn", "tomotopy")


# -- passes ----------------------------------------------------------------------

AGAIN: Mapping[str, Sequence[int]] = {
    "full": (1_000, 2_000, 5_000, 10_000, 20_000),
    "short": (2_000, 10_000, 20_000),
    "long": (5_000,),
    "docstrings": (4_000, 10_000),
    "manuals": (4_000,),
}
"""The sizes of collections that are read again, by source."""
PASSES = (1, 5, 10, 20)
GIBBS = "gibbs"
GIBBS_ETA = 0.1
SWEEPS = range(100, 1_001, 100)
SETTLED = 0.002
"""Nats. Gibbs sampling ends when 100 sweeps have changed its score by less."""


class Reading(NamedTuple):
    """What a program has found after this many passes or sweeps. The results keep these figures in
    this order."""

    passes: int
    seconds: float
    """CPU seconds of learning."""
    log_likelihood: float
    npmi: float
    distinct: float
    topics: int

    @property
    def words(self) -> float:
        """NPMI times the share of distinct words."""
        return self.npmi * self.distinct


def reading(found: TopicsAndShares, of: Collection, passes: int, seconds: float) -> Reading:
    topics, shares = found
    coherence, distinct, n_topics = quality(topics, shares, of.documents)
    log_likelihood = best_score(topics, CompletionSet(of.held_out))
    done = Reading(passes, seconds, log_likelihood, coherence, distinct, n_topics)
    print(*done, sep="\t", flush=True)
    return done


def ours_again(kind: str, of: Collection, passes: int) -> Reading:
    cls = kinds.load(kind)
    D = of.documents.D
    model = cls.create(default_topics(cls, D), of.n_words, D)
    seconds = learning_seconds(model, readings(model, of.documents, passes, seed=0))
    return reading((model.topics(), model.topic_shares()), of, passes, seconds)


def gibbs_again(of: Collection) -> Iterator[Reading]:
    """Gibbs sampling with the K of our LDA, until it gains no more."""
    from tomotopy import LDAModel

    K = default_topics(kinds.load("lda"), of.documents.D)
    model = LDAModel(k=K, alpha=0.1, eta=GIBBS_ETA, seed=1)
    peers.with_all(model, of.documents)
    seconds = 0.0
    last = -np.inf
    for sweeps in SWEEPS:
        begun = cpu_seconds()
        model.train(SWEEPS.step, workers=1)
        seconds += cpu_seconds() - begun
        now = reading(sampled(model, of), of, sweeps, seconds)
        yield now
        if abs(now.log_likelihood - last) < SETTLED:
            break
        last = now.log_likelihood


def measured_again(source: str, size: int) -> Figures:
    of = collection(source, size, 0)
    found: dict[str, list[Reading]] = {}
    for kind in OURS:
        cls = kinds.load(kind)
        compile_kernels(cls.create(10, 10_000, 1))
        numbers = sorted({*PASSES, default_passes(size)})
        found[kind] = [ours_again(kind, of, passes) for passes in numbers]
    found[GIBBS] = list(gibbs_again(of))
    return found


for _source, _sizes in AGAIN.items():
    for _size in _sizes:
        _measure = partial(measured_again, _source, _size)
        EXPERIMENT.add(f"again_{_source}_{_size}", _measure, "tomotopy")


def again(points: Points) -> str:
    """Our models after one pass and after as many as are usual, and Gibbs sampling at its end."""
    rows = []
    for name, found in points.items():
        if not name.startswith("again_"):
            continue
        _, source, size = name.split("_")
        usual = default_passes(int(size))
        cells = []
        for kind in OURS:
            by_passes = {values[0]: Reading(*values) for values in found[kind]}
            cells += [_told(by_passes[1]), _told(by_passes[usual])]
        cells.append(_told(Reading(*found[GIBBS][-1])))
        rows.append((f"{int(size):,} {source}", str(usual), *cells))
    heads = []
    for label in ("LDA", "SCVB0", "HDP"):
        heads += [f"{label}, 1 pass", f"{label}, all"]
    return table(("", "passes", *heads, "Gibbs sampling"), rows)


def _told(of: Reading) -> str:
    """Log-likelihood; NPMI times distinct words; CPU seconds."""
    return f"{of.log_likelihood:.3f}; {of.words:.3f}; {of.seconds:.1f} s"


EXPERIMENT.tables["again"] = again


# -- beside peers ----------------------------------------------------------------


def beside(points: Points) -> str:
    """Our models; the best peer; how far each of ours is ahead of it, with the error of the paired
    mean."""

    rows = []
    for name, found in points.items():
        if name.startswith("again_"):
            continue
        source, size = name.split("_")
        for figure, label in (("log_likelihood", "log-likelihood"), ("npmi", "NPMI")):
            cells = [_against_peers(found, kind, figure) for kind in OURS]
            rows.append((f"{int(size):,} {source}", label, *cells))
    return table(("collection", "", "online LDA", "SCVB0", "online HDP"), rows)


def _against_peers(found: Figures, kind: str, figure: str) -> str:
    def of_collections(program: str) -> NDArray[np.float64]:
        return np.array([getattr(Judgement(*values), figure) for values in found[program]])

    own = of_collections(kind)
    peers = [of_collections(name) for name in PEERS]
    best_peer = max(peers, key=lambda values: float(values.mean()))
    ahead = own - best_peer
    error = float("nan")
    if len(ahead) > 1:
        error = ahead.std(ddof=1) / len(ahead) ** 0.5
    return f"{own.mean():.3f} ({ahead.mean():+.3f} ± {error:.3f})"


EXPERIMENT.tables["beside"] = beside
