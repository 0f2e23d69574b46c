"""Other people's topic models beside ours: log-likelihood and coherence against CPU seconds.

The articles of each corpus of `benchmarks/data.py`, K = 100 (HDPs: as many as they take), each peer
at its best settings for one pass. Gibbs sampling goes over the articles again and again until that
changes its score by less than `SETTLED`, and so, with more passes each time, do our models once
more. All topics are scored on the `report` articles, by one scorer: proportions inferred alike for
everybody, with the best of a few symmetric priors. Beside it is the score of each program's own
proportions, if it has any.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.data import CORPORA, Corpus
from benchmarks.harness import Experiment, Figures, Points, compared, table
from benchmarks.measuring import (
    FixedTopics,
    common_score,
    compile_kernels,
    cpu_seconds,
    growing,
    held_out,
    learn_all,
    learning_seconds,
    minibatches,
    plain_lda,
    quality,
    readings,
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
SETTLED = 0.002
"""Nats. A program that goes over the articles again and again ends when its score has changed by
less since the number of sweeps or passes before."""
GIBBS_ETA = 0.1
"""With 0.01, tomotopy's own, it is 0.04 nats behind on few long articles after 300 sweeps."""
SWEEPS = range(100, 1_001, 100)
"""Gibbs sampling is scored after each of these numbers of sweeps."""
PASSES = (1, 2, 5, 10, 20, 50)
"""Where our models make several passes, one is learnt for each of these numbers of them."""
SEEDS = range(5)
"""Of our models in one pass."""
FEW: Sequence[Corpus] = ("long",)
"""Where the articles are so few that the slowest programs come to an end."""


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
    passes: int = 1
    """How often the program has gone over the articles; it is in the middle of the last one, or at
    its end."""


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


def ours(make: Callable[..., Any], corpus: Corpus, seed: int) -> Moments:
    """A model with our defaults.

    make: makes the model, given the number of words, that of documents, and `seed`
    """
    compile_kernels(make(words(corpus), 1))
    model = make(words(corpus), train(corpus).D, seed=seed)
    return moments(model, growing(train(corpus), model.default_batch_size))


def ours_again(make: Callable[..., Any], corpus: Corpus, seed: int) -> Moments:
    """The same model in each number of `PASSES`, as a session would learn it that is asked for so
    many: anew, since a model that knows that it will read the articles again learns otherwise."""
    compile_kernels(make(words(corpus), 1))
    documents = train(corpus)
    for passes in PASSES:
        model = make(words(corpus), documents.D, seed=seed)
        seconds = learning_seconds(model, readings(model, documents, passes, seed))
        yield replace(_moment(model, seconds), passes=passes)


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


def _gibbs_moment(model: Any, seconds: float, sweeps: int, corpus: Corpus) -> Moment:
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

    return Moment(seconds, topics, tokens / tokens.sum(), own, sweeps)


def _sampled(model: Any, corpus: Corpus) -> Moments:
    """The model after each number of `SWEEPS` over all documents."""
    seconds = 0.0
    done = 0
    for sweeps in SWEEPS:
        begun = cpu_seconds()
        model.train(sweeps - done, workers=1)
        seconds += cpu_seconds() - begun
        done = sweeps
        yield _gibbs_moment(model, seconds, sweeps, corpus)


def gibbs_lda(corpus: Corpus, seed: int, topics: int = K) -> Moments:
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=0.1, eta=GIBBS_ETA, seed=seed + 1)
    peers.with_all(model, train(corpus))
    return _sampled(model, corpus)


def gibbs_like_hdp(corpus: Corpus, seed: int) -> Moments:
    """With as many topics as our HDP comes to use."""
    hdp = OnlineHDP(words(corpus), train(corpus).D)
    learn_all(hdp, growing(train(corpus), hdp.default_batch_size))
    return gibbs_lda(corpus, seed, hdp.topics_in_use())


def gibbs_hdp(corpus: Corpus, seed: int) -> Moments:
    import tomotopy

    model = tomotopy.HDPModel(initial_k=K, alpha=0.1, eta=GIBBS_ETA, gamma=0.1, seed=seed + 1)
    peers.with_all(model, train(corpus))
    return _sampled(model, corpus)


# -- what is measured ------------------------------------------------------------


class Scored(NamedTuple):
    """A point of a curve. The results keep these figures in this order."""

    seconds: float
    log_likelihood: float
    passes: int


MEDIANS = ("seconds", "passes")
"""Figures of which a point with several seeds has the median."""
MEANS = (
    "log_likelihood",
    "own",
    "npmi",
    "distinct",
    "npmi_relevant",
    "distinct_relevant",
    "topics",
)
"""Those of which it has the mean."""


class Program(NamedTuple):
    label: str
    run: Callable[[Corpus, int], Moments]
    """Given the corpus and the seed."""
    needs: tuple[str, ...] = ()
    """The packages that it needs."""
    again: bool = False
    """Whether it goes over the articles again and again, until its score has settled."""
    corpora: Sequence[Corpus] = CORPORA
    """Where it is measured."""


def measure(program: Program, corpus: Corpus) -> Figures:
    """With three seeds where a program goes over few articles again and again, otherwise with
    one."""
    seeds = range(3) if program.again and corpus in FEW else range(1)
    return of_seeds([measured(program, corpus, seed) for seed in seeds])


def measured(program: Program, corpus: Corpus, seed: int) -> dict[str, Any]:
    """The curve by the common scorer, and at the end own score, coherence and distinctness."""
    curve: list[Scored] = []
    for moment in program.run(corpus, seed):
        log_likelihood = common_score(moment.topics, corpus)
        curve.append(Scored(moment.seconds, log_likelihood, moment.passes))
        print(*curve[-1], sep="\t", flush=True)
        if program.again and settled(curve):
            break
    return {**at_end(moment, log_likelihood, corpus), "curve": curve}


def settled(curve: Sequence[Scored]) -> bool:
    """Whether the score has changed by less than `SETTLED` at the end of the curve."""
    if len(curve) < 2:
        return False
    return abs(curve[-1].log_likelihood - curve[-2].log_likelihood) < SETTLED


def at_end(end: Moment, log_likelihood: float, corpus: Corpus) -> dict[str, Any]:
    coherence, distinct, topics = quality(end.topics, end.shares, train(corpus))
    coherence_by_relevance, distinct_by_relevance, _ = quality(
        end.topics,
        end.shares,
        train(corpus),
        relevant=True,
    )
    own = end.own(held_out(corpus)) if end.own else None
    return {
        "log_likelihood": log_likelihood,
        "own": own,
        "seconds": end.seconds,
        "npmi": coherence,
        "distinct": distinct,
        "npmi_relevant": coherence_by_relevance,
        "distinct_relevant": distinct_by_relevance,
        "topics": topics,
        "passes": end.passes,
    }


def of_seeds(by_seed: Sequence[dict[str, Any]]) -> Figures:
    """Means of the seeds, medians of CPU seconds and passes, each seed's score, and the first one's
    curve."""
    found: dict[str, Any] = {**by_seed[0]}
    for figure in MEANS:
        if found[figure] is not None:
            found[figure] = fmean(figures[figure] for figures in by_seed)
    for figure in MEDIANS:
        found[figure] = median(figures[figure] for figures in by_seed)
    found["scores"] = [figures["log_likelihood"] for figures in by_seed]
    return found


def our_seeds(corpus: Corpus) -> Figures:
    """Our models after one pass with each of `SEEDS`: the means, and each seed's score."""
    found: dict[str, Figures] = {}
    for kind in OURS:
        name = f"our_{kind}"
        by_seed = []
        for seed in SEEDS:
            *_, end = PROGRAMS[name].run(corpus, seed)
            by_seed.append(at_end(end, common_score(end.topics, corpus), corpus))
        found[name] = of_seeds(by_seed)
    return found


SKLEARN = partial(peers.SklearnLDA, K)
GENSIM = partial(peers.GensimLDA, K)
OURS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "scvb0": ("SCVB0", partial(SCVB0, K)),
    "lda": ("online LDA", partial(OnlineLDA, K)),
    "hdp": ("online HDP", OnlineHDP),
}


def one_seed(run: Callable[[Corpus], Moments]) -> Callable[[Corpus, int], Moments]:
    """A program that is measured with one seed, which it has chosen itself."""
    return lambda corpus, _: run(corpus)


PROGRAMS: dict[str, Program] = {}
"""By point."""
for _kind, (_label, _make) in OURS.items():
    PROGRAMS[f"our_{_kind}"] = Program(_label, partial(ours, _make))
for _kind, (_label, _make) in OURS.items():
    PROGRAMS[f"our_{_kind}_again"] = Program(
        f"{_label}, several passes",
        partial(ours_again, _make),
        again=True,
    )
PROGRAMS |= {
    "papers_lda": Program(
        "online LDA, settings of [H10]",
        one_seed(partial(in_minibatches, papers_lda)),
    ),
    "papers_scvb0": Program(
        "SCVB0, settings of [F13]",
        one_seed(partial(in_minibatches, papers_scvb0, size=100)),
    ),
    "sklearn": Program(
        "scikit-learn",
        one_seed(partial(in_minibatches, SKLEARN)),
        ("sklearn",),
    ),
    "gensim": Program(
        "gensim LdaModel",
        one_seed(partial(in_minibatches, GENSIM)),
        ("gensim",),
    ),
    # LdaMulticore cuts what it is given into minibatches for its workers
    "gensim_multicore": Program(
        "gensim LdaMulticore",
        one_seed(partial(in_minibatches, partial(GENSIM, workers=2), at_once=16)),
        ("gensim",),
    ),
    "gensim_hdp": Program(
        "gensim HdpModel (20,000 articles)",
        one_seed(gensim_hdp),
        ("gensim",),
    ),
    "vowpal_wabbit": Program("Vowpal Wabbit", one_seed(vowpal_wabbit), ("vowpalwabbit",)),
    "bigartm": Program("BigARTM", one_seed(bigartm)),
    "bigartm_decorrelated": Program(
        "BigARTM, decorrelated",
        one_seed(partial(bigartm, decorrelated=True)),
    ),
    "gibbs_lda": Program("Gibbs sampling (tomotopy LDA)", gibbs_lda, ("tomotopy",), True),
    "gibbs_like_hdp": Program(
        "tomotopy LDA, as many topics as our HDP",
        gibbs_like_hdp,
        ("tomotopy",),
        True,
        corpora=FEW,
    ),
    "gibbs_hdp": Program("tomotopy HDP", gibbs_hdp, ("tomotopy",), True, corpora=FEW),
}

for _name, _program in PROGRAMS.items():
    for _corpus in _program.corpora:
        _measure = partial(measure, _program, _corpus)
        EXPERIMENT.add(f"{_corpus}_{_name}", _measure, *_program.needs)
for _corpus in CORPORA:
    EXPERIMENT.add(f"{_corpus}_seeds", partial(our_seeds, _corpus))


def of_program(corpus: Corpus, name: str, points: Points) -> Figures | None:
    """What a program's rows in tables say: the means of the seeds, if there are several; how far
    their scores lie apart; CPU seconds."""
    found = points.get(f"{corpus}_{name}")
    if not found:
        return None
    of_seeds = points.get(f"{corpus}_seeds", {}).get(name, {})
    scores = of_seeds.get("scores") or found.get("scores", [])
    apart = max(scores) - min(scores) if len(scores) > 1 else None
    seconds = found["seconds"]
    return {"passes": 1, **found, **of_seeds, "seconds": seconds, "between_seeds": apart}


SHOWN = (
    "our_scvb0",
    "our_scvb0_again",
    "our_lda",
    "our_lda_again",
    "our_hdp",
    "our_hdp_again",
    "sklearn",
    "gensim",
    "gensim_hdp",
    "vowpal_wabbit",
    "bigartm",
    "gibbs_lda",
)
"""The programs of the overview, in their order."""
HEADS = {"npmi": "NPMI", "distinct": "distinct words", "seconds": "CPU s"}
OVERVIEW: Mapping[Corpus, Sequence[tuple[str, str]]] = {
    "full": (("npmi", ".2f"), ("distinct", ".2f"), ("seconds", ",.1f")),
    "short": (),
    "long": (("seconds", ",.1f"),),
}
"""By corpus: what the overview has beside the score, and the format of each figure."""


def overview(points: Points) -> str:
    """The three corpora side by side."""
    rows = []
    for name in SHOWN:
        cells = []
        for corpus, figures in OVERVIEW.items():
            found = of_program(corpus, name, points)
            cells.append(_with_passes(found) if found else "")
            cells += [f"{found[figure]:{form}}" if found else "" for figure, form in figures]
        rows.append((PROGRAMS[name].label, *cells))
    head = []
    for corpus, figures in OVERVIEW.items():
        head.append(f"{corpus}: log-likelihood, passes")
        head += [HEADS[figure] for figure, _ in figures]
    return table(("", *head), rows)


def _with_passes(found: Figures) -> str:
    """A score, how far seeds lie apart, and the number of passes."""
    apart = found["between_seeds"]
    between_seeds = "" if apart is None else f" ({apart:.3f})"
    return f"{found['log_likelihood']:.3f}{between_seeds}, {found['passes']:.0f}"


def beside(corpus: Corpus, points: Points) -> str:
    columns = {
        "passes": "{passes:.0f}",
        "log-likelihood": "{log_likelihood:.3f}",
        "between seeds": "{between_seeds:.3f}",
        "by its own proportions": "{own:.3f}",
        "NPMI": "{npmi:.3f}",
        "distinct words": "{distinct:.2f}",
        "NPMI by relevance": "{npmi_relevant:.3f}",
        "distinct by relevance": "{distinct_relevant:.2f}",
        "topics in use": "{topics:.0f}",
        "CPU s": "{seconds:,.1f}",
    }
    labels = {name: program.label for name, program in PROGRAMS.items()}
    found: dict[str, Figures] = {}
    for name in PROGRAMS:
        figures = of_program(corpus, name, points)
        if figures:
            found[name] = figures
    return compared(labels, columns, found)


def by_seconds(points: Points) -> Figure:
    """The curves of all programs, one panel for each corpus."""
    from matplotlib import colormaps, pyplot

    colours = [*colormaps["tab10"](range(10)), "black", "gold", "navy", "lime", "silver"]
    once = [name for name in PROGRAMS if not name.endswith("_again")]
    drawn = dict(zip(once, colours, strict=True))
    figure, panels = pyplot.subplots(1, len(CORPORA), figsize=(18, 4.6), layout="constrained")
    for axes, corpus in zip(panels, CORPORA, strict=True):
        for name, program in PROGRAMS.items():
            if f"{corpus}_{name}" in points:
                seconds, scores, *_ = zip(*points[f"{corpus}_{name}"]["curve"], strict=True)
                again = name.endswith("_again")
                colour = drawn[name.removesuffix("_again")]
                label = None if again else program.label
                axes.plot(seconds, scores, _line(name), color=colour, marker=".", label=label)
        axes.set(xscale="log", xlabel="CPU seconds", title=f"{corpus} articles")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("log-likelihood, nats per held-out word")
    on_long = panels[CORPORA.index("long")]  # where every program is measured
    handles, labels = on_long.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside right center")
    return figure


def _line(name: str) -> str:
    """How a program is drawn."""
    if name.startswith("our"):
        return "-"
    if name.startswith("papers"):
        return ":"
    return "--"


EXPERIMENT.tables["overview"] = overview
EXPERIMENT.tables |= {corpus: partial(beside, corpus) for corpus in CORPORA}
EXPERIMENT.pictures["by_seconds"] = by_seconds
