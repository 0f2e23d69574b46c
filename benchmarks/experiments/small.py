"""Small collections: our models with their defaults beside peers at their best, with the same K.

Collections of 60 to 4,000 documents over words of their own: articles, docstrings and manual pages.
Each peer has the best of a few settings and passes, chosen on other documents of the same kind and
number. All topics are scored on the same held-out documents by one scorer, with the best of a few
symmetric priors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.collections import SOURCES, Collection, collection
from benchmarks.data import in_order
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import best_score, quality
from wikitopics.model import CompletionSet, kinds
from wikitopics.session.settings import default_topics
from wikitopics.session.training.new_session import default_passes
from wikitopics.session.training.schedule import minibatch_size

EXPERIMENT = Experiment(
    "small",
    "collections of 60 to 4,000 documents, beside other people's models",
    data="word counts, manual pages",
)
SPLITS = {60: 20, 300: 20, 1_000: 6, 4_000: 2}
"""Collections of each size."""
Topics = tuple[NDArray[Any], NDArray[Any] | None]
"""(K, W) topics, and each one's share of the words if it is known."""


def ours(kind: str, of: Collection, seed: int) -> Topics:
    """Topics of a model that is trained as by a session with its defaults."""
    model = kinds.load(kind)
    documents = of.documents
    size = of.documents.D
    made = model.create(default_topics(model, size), of.n_words, size, seed=seed)
    random = np.random.default_rng(seed)
    order = np.concatenate(
        [np.arange(size), *(random.permutation(size) for _ in range(default_passes(size) - 1))]
    )
    start = 0
    while start < len(order):
        stop = start + minibatch_size(start, made.default_batch_size)
        made.learn(in_order(documents, order[start:stop]))
        start = stop
    return made.topics(), made.topic_shares()


def gensim(passes: int, eta: float | str, alpha: str, of: Collection, seed: int) -> Topics:
    from gensim.models import LdaModel

    bows = [peers.bow(of.documents, d) for d in range(of.documents.D)]
    options: dict[str, Any] = {
        "id2word": {n: str(n) for n in range(of.n_words)},
        "eval_every": None,
    }
    K = default_topics(kinds.load("lda"), of.documents.D)
    made = LdaModel(bows, K, passes=passes, alpha=alpha, eta=eta, random_state=seed, **options)
    return made.get_topics(), None


def sklearn(passes: int, eta: float, alpha: float, of: Collection, seed: int) -> Topics:
    from sklearn.decomposition import LatentDirichletAllocation

    made = LatentDirichletAllocation(
        default_topics(kinds.load("lda"), of.documents.D),
        doc_topic_prior=alpha,
        topic_word_prior=eta,
        max_iter=passes,
        random_state=seed,
    )
    made.fit(peers.csr(of.documents, of.n_words))
    return peers.normalised(made.components_), None


def tomotopy(passes: int, eta: float, alpha: float, of: Collection, seed: int) -> Topics:
    """Gibbs sampling; alpha is optimised from this one on."""
    from tomotopy import LDAModel

    K = default_topics(kinds.load("lda"), of.documents.D)
    made = peers.with_all(LDAModel(k=K, alpha=alpha, eta=eta, seed=seed + 1), of.documents)
    made.train(passes, workers=1)
    shares = np.asarray(made.get_count_by_topics(), float)
    return peers.sampled_topics(made, range(K), of.n_words), shares / shares.sum()


Program = Callable[[Collection, int], Topics]
OURS = ("lda", "scvb0", "hdp")
PEERS: Mapping[str, tuple[Program, ...]] = {
    "gensim": tuple(
        partial(gensim, passes, eta, alpha)
        for passes, eta in ((10, "auto"), (50, "auto"), (10, 0.1), (50, 0.1))
        for alpha in ("auto", "symmetric")
    ),
    "scikit-learn": tuple(
        partial(sklearn, passes, eta, alpha)
        for passes, eta in ((10, 0.1), (50, 0.1), (10, 0.3), (50, 0.3))
        for alpha in (0.01, 0.1)
    ),
    "tomotopy": tuple(
        partial(tomotopy, passes, eta, 0.1)
        for passes in (100, 1_000)
        for eta in (0.01, 0.03, 0.1, 0.3)
    ),
}


def judged(program: Program, of: Collection, seed: int) -> tuple[float, float, float]:
    """Log-likelihood, NPMI and distinctness of the topics found."""
    topics, shares = program(of, seed)
    coherence, distinct, _ = quality(topics, shares, of.reference)
    return best_score(topics, CompletionSet(of.held_out)), coherence, distinct


def tuned(programs: tuple[Program, ...], source: str, size: int) -> Program:
    """The program with the best likelihood on collections for tuning."""
    seeds = range(2) if size <= 1_000 else range(1)
    collections = [collection(source, size, seed, tuning=True) for seed in seeds]

    def likelihood(program: Program) -> float:
        total = 0.0
        for of in collections:
            log_likelihood, _, _ = judged(program, of, 0)
            total += log_likelihood
        return total

    return max(programs, key=likelihood)


def measured(source: str, size: int) -> Figures:
    """For each program, the figures of every collection: paired, since all have the same."""
    programs: dict[str, Program] = {kind: partial(ours, kind) for kind in OURS}
    best = {name: tuned(choices, source, size) for name, choices in PEERS.items()}
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in (*programs, *best)}
    for seed in range(SPLITS[size]):
        of = collection(source, size, seed)
        for name, program in (programs | best).items():
            found[name].append(judged(program, of, seed))
    settings = {name: list(program.args) for name, program in best.items()}  # type: ignore[attr-defined]
    return {"settings": settings, **found}


for _source in SOURCES:
    for _size in SPLITS:
        _measure = partial(measured, _source, _size)
        EXPERIMENT.add(f"{_source}_{_size}", _measure, "gensim", "sklearn", "tomotopy")


def beside(points: Points) -> str:
    """Our models; the best peer; how far each of ours is ahead of it, with the error of the paired
    mean."""

    def cell(found: Any, kind: str, column: int) -> str:
        own = np.array(found[kind])[:, column]  # one value for each collection
        others = np.array([found[name] for name in PEERS])[:, :, column]
        best = others[others.mean(axis=1).argmax()]
        ahead = own - best
        error = float("nan")
        if len(ahead) > 1:
            error = ahead.std(ddof=1) / len(ahead) ** 0.5
        return f"{own.mean():.3f} ({ahead.mean():+.3f} ± {error:.3f})"

    def rows() -> Iterator[tuple[str, ...]]:
        for name, found in points.items():
            source, size = name.split("_")
            for column, figure in enumerate(("log-likelihood", "NPMI")):
                cells = (cell(found, kind, column) for kind in OURS)
                yield f"{int(size):,} {source}", figure, *cells

    return table(("collection", "", "online LDA", "SCVB0", "online HDP"), rows())


EXPERIMENT.tables["beside"] = beside
