"""Other people's topic models beside ours: log-likelihood and coherence against CPU seconds.

The articles of each corpus of `benchmarks/data.py`, K = 100 (HDPs: as many as they take), each peer
at its best settings for one pass; Gibbs sampling goes over the articles 100 times. All topics are
scored on the `report` articles, by one scorer: proportions inferred alike for everybody, with the
best of a few symmetric priors. Beside it is the score of each program's own proportions, if it has
any.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.data import CORPORA, Corpus
from benchmarks.harness import Experiment, Figures, Points, compared
from benchmarks.measuring import (
    FixedTopics,
    common_score,
    compile_kernels,
    cpu_seconds,
    growing,
    held_out,
    learn_all,
    minibatches,
    plain_lda,
    quality,
    train,
    words,
)
from benchmarks.peers import BEST_SIZE
from wikitopics.model import SCVB0, CompletionSet, Minibatch, OnlineHDP, OnlineLDA, OnlineModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    "peers", "other people's models beside ours, by CPU seconds", programs="BigARTM"
)
K = 100


@dataclass
class Moment:
    """A model at some moment of its learning."""

    seconds: float
    """CPU seconds of learning so far."""
    topics: NDArray[Any]
    """(K, W)"""
    shares: NDArray[Any] | None = None
    """(K,) each topic's share of the words; if the program gives none, all topics count as in
    use."""
    own: Callable[[CompletionSet], float] | None = None
    """What scores the program's own proportions, if it has any."""


Moments = Iterator[Moment]


def moments(model: Any, batches: Iterator[Minibatch]) -> Moments:
    """A model that learns from minibatches, after 2,000 documents, at each doubling, and at the
    end."""
    seen = 0
    due = 2_000
    seconds = 0.0
    learnt_since = False
    for batch in batches:
        begun = cpu_seconds()
        model.learn(batch)
        seconds += cpu_seconds() - begun
        seen += batch.D
        learnt_since = True
        if seen >= due:
            due *= 2
            learnt_since = False
            yield _moment(model, seconds)
    if learnt_since:
        yield _moment(model, seconds)


def _moment(model: Any, seconds: float) -> Moment:
    shares = model.topic_shares() if hasattr(model, "topic_shares") else None
    return Moment(seconds, model.topics(), shares, lambda scored: scored.score(model))


# -- the programs ----------------------------------------------------------------


def ours(make: Callable[[int, int], Any], corpus: Corpus) -> Moments:
    """A model with our defaults.

    make: makes the model, given the number of words and that of documents
    """
    compile_kernels(make(words(corpus), 1))
    model = make(words(corpus), train(corpus).D)
    return moments(model, growing(train(corpus), model.default_batch_size))


def in_minibatches(
    make: Callable[[int, int, int], Any],
    corpus: Corpus,
    size: int | None = None,
    at_once: int = 1,
) -> Moments:
    """A model that learns minibatches of one size.

    make: makes the model, given the number of words, that of documents and the size of minibatches;
    at_once: how many minibatches the model is given in one call
    """
    size = size or BEST_SIZE[corpus]
    model = make(words(corpus), train(corpus).D, size)
    if isinstance(model, OnlineModel):
        compile_kernels(make(words(corpus), 1, size))
    return moments(model, minibatches(train(corpus), at_once * size))


def papers_lda(n_words: int, n_documents: int, _: int) -> OnlineLDA:
    """[H10] table 1: S = 4096, kappa = 0.5, tau0 = 64."""
    return plain_lda(n_words, n_documents)


def papers_scvb0(n_words: int, n_documents: int, _: int) -> SCVB0:
    """[F13] section 4, S = 100."""
    return SCVB0(K, n_words, n_documents, warm_start=False)


def gensim_hdp(corpus: Corpus) -> Moments:
    seconds, topics, alpha = peers.gensim_hdp(train(corpus)[:20_000], words(corpus))
    fixed = FixedTopics(topics, alpha)
    yield Moment(seconds, topics, alpha / alpha.sum(), lambda scored: scored.score(fixed))


def vowpal_wabbit(corpus: Corpus) -> Moments:
    with tempfile.TemporaryDirectory() as folder:
        seconds, topics = peers.vowpal_wabbit(train(corpus), K, words(corpus), Path(folder))
    yield Moment(seconds, topics)


def bigartm(corpus: Corpus, decorrelated: bool = False) -> Moments:
    seconds, topics, theta = peers.bigartm(
        train(corpus),
        held_out(corpus).seen,
        K,
        words(corpus),
        corpus,
        decorrelated,
    )
    # BigARTM's proportions are those after the last document; only the score of the last moment is
    # asked for.
    given = peers.Given(topics[-1], theta)
    for seconds_so_far, topics_then in zip(seconds.tolist(), topics, strict=True):
        yield Moment(seconds_so_far, topics_then, own=lambda scored: scored.score(given))


def _gibbs_moment(model: Any, seconds: float, corpus: Corpus) -> Moment:
    alive = list(range(model.k))
    if hasattr(model, "is_live_topic"):  # an HDP's topics come and go
        alive = [k for k in alive if model.is_live_topic(k)]
    topics = peers.sampled_topics(model, alive, words(corpus))
    tokens = np.asarray(model.get_count_by_topics(), float)[alive]

    def own(scored: CompletionSet) -> float:
        documents = [model.make_doc(peers.tokens(scored.seen, d)) for d in range(scored.seen.D)]
        theta, _ = model.infer(documents, iterations=100, workers=1)
        of_alive = np.asarray(theta, np.float32)[:, alive]
        return scored.score(peers.Given(topics, of_alive))

    return Moment(seconds, topics, tokens / tokens.sum(), own)


def _sampled(model: Any, corpus: Corpus, sweeps: tuple[int, ...]) -> Moments:
    """The model after each of these numbers of sweeps over all documents."""
    seconds = 0.0
    done = 0
    for due in sweeps:
        begun = cpu_seconds()
        model.train(due - done, workers=1)
        seconds += cpu_seconds() - begun
        done = due
        yield _gibbs_moment(model, seconds, corpus)


def gibbs_lda(corpus: Corpus, topics: int = K) -> Moments:
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=0.1, eta=0.01, seed=1)
    peers.with_all(model, train(corpus))
    return _sampled(model, corpus, (10, 20, 50, 100))


def gibbs_like_hdp(corpus: Corpus) -> Moments:
    """With as many topics as our HDP comes to use."""
    hdp = OnlineHDP(words(corpus), train(corpus).D)
    learn_all(hdp, growing(train(corpus), hdp.default_batch_size))
    return gibbs_lda(corpus, hdp.topics_in_use())


def gibbs_hdp(corpus: Corpus) -> Moments:
    import tomotopy

    model = tomotopy.HDPModel(initial_k=K, alpha=0.1, eta=0.01, gamma=0.1, seed=1)
    peers.with_all(model, train(corpus))
    sweeps = (10, 20, 50, 100) if corpus == "long" else (10, 20)
    return _sampled(model, corpus, sweeps)


# -- what is measured ------------------------------------------------------------


def measure(program: Callable[[Corpus], Moments], corpus: Corpus) -> Figures:
    """The curve by the common scorer, and at the end own score, coherence and distinctness."""
    curve: list[tuple[float, float]] = []
    for moment in program(corpus):
        log_likelihood = common_score(moment.topics, corpus)
        curve.append((moment.seconds, log_likelihood))
    end = moment
    coherence, distinct, topics = quality(end.topics, end.shares, train(corpus))
    coherence_by_relevance, distinct_by_relevance, _ = quality(
        end.topics,
        end.shares,
        train(corpus),
        relevant=True,
    )
    return {
        "log_likelihood": log_likelihood,
        "own": end.own(held_out(corpus)) if end.own else None,
        "seconds": end.seconds,
        "npmi": coherence,
        "distinct": distinct,
        "npmi_relevant": coherence_by_relevance,
        "distinct_relevant": distinct_by_relevance,
        "topics": topics,
        "curve": curve,
    }


SKLEARN = partial(peers.SklearnLDA, K)
GENSIM = partial(peers.GensimLDA, K)
PROGRAMS: Mapping[str, tuple[str, Callable[[Corpus], Moments], tuple[str, ...]]] = {
    "our_scvb0": ("SCVB0", partial(ours, partial(SCVB0, K)), ()),
    "our_lda": ("online LDA", partial(ours, partial(OnlineLDA, K)), ()),
    "our_hdp": ("online HDP", partial(ours, OnlineHDP), ()),
    "papers_lda": ("online LDA, settings of [H10]", partial(in_minibatches, papers_lda), ()),
    "papers_scvb0": (
        "SCVB0, settings of [F13]",
        partial(in_minibatches, papers_scvb0, size=100),
        (),
    ),
    "sklearn": ("scikit-learn", partial(in_minibatches, SKLEARN), ("sklearn",)),
    "gensim": ("gensim LdaModel", partial(in_minibatches, GENSIM), ("gensim",)),
    # LdaMulticore cuts what it is given into minibatches for its workers
    "gensim_multicore": (
        "gensim LdaMulticore",
        partial(in_minibatches, partial(GENSIM, workers=2), at_once=16),
        ("gensim",),
    ),
    "gensim_hdp": ("gensim HdpModel (20,000 articles)", gensim_hdp, ("gensim",)),
    "vowpal_wabbit": ("Vowpal Wabbit", vowpal_wabbit, ("vowpalwabbit",)),
    "bigartm": ("BigARTM", bigartm, ()),
    "bigartm_decorrelated": (
        "BigARTM, decorrelated",
        partial(bigartm, decorrelated=True),
        (),
    ),
    "gibbs_lda": ("tomotopy LDA, 100 sweeps", gibbs_lda, ("tomotopy",)),
    "gibbs_like_hdp": ("tomotopy LDA, as many topics as our HDP", gibbs_like_hdp, ("tomotopy",)),
    "gibbs_hdp": (
        "tomotopy HDP (few long articles: 100 sweeps, others: 20)",
        gibbs_hdp,
        ("tomotopy",),
    ),
}
"""By point: the program's name in tables, how to run it, and the packages that it needs."""

for _corpus in CORPORA:
    for _name, (_, _program, _needs) in PROGRAMS.items():
        EXPERIMENT.add(f"{_corpus}_{_name}", partial(measure, _program, _corpus), *_needs)


def beside(corpus: Corpus, points: Points) -> str:
    columns = {
        "log-likelihood": "{log_likelihood:.3f}",
        "by its own proportions": "{own:.3f}",
        "NPMI": "{npmi:.3f}",
        "distinct words": "{distinct:.2f}",
        "NPMI by relevance": "{npmi_relevant:.3f}",
        "distinct by relevance": "{distinct_relevant:.2f}",
        "topics in use": "{topics:d}",
        "CPU s": "{seconds:,.1f}",
    }
    labels = {f"{corpus}_{name}": label for name, (label, _, _) in PROGRAMS.items()}
    return compared(labels, columns, points)


def by_seconds(points: Points) -> Figure:
    """The curves of all programs, one panel for each corpus."""
    from matplotlib import colormaps, pyplot

    colours = [*colormaps["tab10"](range(10)), "black", "gold", "silver", "lime", "navy"]
    figure, panels = pyplot.subplots(1, len(CORPORA), figsize=(18, 4.6), layout="constrained")
    for axes, corpus in zip(panels, CORPORA, strict=True):
        axes.set_prop_cycle(color=colours)
        for name, (label, _, _) in PROGRAMS.items():
            if f"{corpus}_{name}" in points:
                seconds, scores = zip(*points[f"{corpus}_{name}"]["curve"], strict=True)
                axes.plot(seconds, scores, _line(name), marker=".", label=label)
        axes.set(xscale="log", xlabel="CPU seconds", title=f"{corpus} articles")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("log-likelihood, nats per held-out word")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside right center")
    return figure


def _line(name: str) -> str:
    """How a program is drawn."""
    if name.startswith("our"):
        return "-"
    if name.startswith("papers"):
        return ":"
    return "--"


EXPERIMENT.tables |= {corpus: partial(beside, corpus) for corpus in CORPORA}
EXPERIMENT.pictures["by_seconds"] = by_seconds
