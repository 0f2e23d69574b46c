"""Other people's topic models beside ours: log-likelihood and coherence against CPU seconds.

Short articles (103 words of 7,702) and long ones (377 words), K = 100 (HDPs: as many as they take), each peer
at its best settings for one pass; Gibbs sampling goes over the articles 100 times. All topics are scored on
articles that chose nothing, by one scorer: proportions inferred alike for everybody, with the best of a few
symmetric priors. Beside it stands the score of each program's own proportions, where it has some.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import cpu_seconds, growing, minibatches
from benchmarks._peers import FixedTopics, SklearnLDA, words_of
from benchmarks.frame import Figures, Part
from benchmarks.papers import held_out, table, train, words
from benchmarks.splits import CORPORA, Corpus
from model import SCVB0, CompletionSet, Minibatch, OnlineHDP, OnlineLDA
from model.coherence import npmi, top_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PART = Part("peers", "other people's topic models beside ours, by CPU seconds")
K = 100
PRIORS = (0.01, 0.03, 0.1, 0.3)
TEN = 10
IN_USE = 1e-3


@dataclass
class Look:
    """A model at some moment of its learning."""

    seconds: float
    topics: NDArray[Any]
    """(K, W)"""
    shares: NDArray[Any] | None = None
    """(K,) of all words, where the program tells; all topics count as in use where not."""
    own: Callable[[CompletionSet], float] | None = None
    """The score of its own proportions."""


Looks = Iterator[Look]


def seconds_of(work: Callable[[], object]) -> float:
    begun = cpu_seconds()
    work()
    return cpu_seconds() - begun


def normalised(topics: NDArray[Any]) -> NDArray[Any]:
    topics = np.asarray(topics, float)
    scaled: NDArray[Any] = topics / topics.sum(axis=1, keepdims=True)
    return scaled


def looked_at(model: Any, batches: Iterator[Minibatch]) -> Looks:
    """A model that learns from minibatches, after 2,000 documents and at each doubling, and at the end."""
    seen, due, spent, late = 0, 2_000, 0.0, False
    for batch in batches:
        spent += seconds_of(functools.partial(model.learn, batch))
        seen, late = seen + batch.D, True
        if seen >= due:
            due, late = 2 * due, False
            yield _look(model, spent)
    if late:
        yield _look(model, spent)


def _look(model: Any, spent: float) -> Look:
    shares = model.topic_shares() if hasattr(model, "topic_shares") else None
    return Look(spent, model.topics(), shares, lambda scored: scored.score(model))


# -- the programs ----------------------------------------------------------------


def our_lda(corpus: Corpus) -> Looks:
    model = OnlineLDA(K, words(corpus), train(corpus).D)
    return looked_at(model, growing(train(corpus), model.default_batch_size))


def our_scvb0(corpus: Corpus) -> Looks:
    model = SCVB0(K, words(corpus), train(corpus).D)
    return looked_at(model, growing(train(corpus), model.default_batch_size))


def our_hdp(corpus: Corpus) -> Looks:
    model = OnlineHDP(words(corpus), train(corpus).D)
    return looked_at(model, growing(train(corpus), model.default_batch_size))


def sklearn_lda(corpus: Corpus) -> Looks:
    size, offset = (1024, 64.0) if corpus == "short" else (256, 10.0)
    model = SklearnLDA(K, words(corpus), train(corpus).D, size, offset)
    return looked_at(model, minibatches(train(corpus), size))


class GensimLDA:
    """gensim's LdaModel, or LdaMulticore with workers; priors and steps as for scikit-learn."""

    def __init__(self, n_words: int, size: int, workers: int = 0) -> None:
        from gensim.models import LdaModel, LdaMulticore

        self.n_words = n_words
        options: dict[str, Any] = {"num_topics": K, "id2word": {n: str(n) for n in range(n_words)}}
        options |= {
            "chunksize": size,
            "alpha": [0.01] * K,
            "eta": 0.01,
            "random_state": 0,
            "eval_every": None,
        }
        options |= {"decay": 0.5, "offset": 64.0}
        if workers:
            self._lda = LdaMulticore(workers=workers, **options)
        else:
            self._lda = LdaModel(**options)

    def learn(self, batch: Minibatch) -> None:
        self._lda.update([self._bow(batch, d) for d in range(batch.D)])

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        gamma, _ = self._lda.inference([self._bow(batch, d) for d in range(batch.D)])
        return normalised(gamma).astype(np.float32)

    def topics(self) -> NDArray[Any]:
        topics: NDArray[Any] = self._lda.get_topics()
        return topics

    @staticmethod
    def _bow(batch: Minibatch, d: int) -> list[tuple[int, int]]:
        return list(zip(*words_of(batch, d), strict=True))


def gensim_lda(corpus: Corpus) -> Looks:
    size = 1024 if corpus == "short" else 256
    return looked_at(GensimLDA(words(corpus), size), minibatches(train(corpus), size))


def gensim_multicore(corpus: Corpus) -> Looks:
    """Its workers take chunks of its own from larger pieces."""
    size = 1024 if corpus == "short" else 256
    return looked_at(GensimLDA(words(corpus), size, workers=2), minibatches(train(corpus), 16 * size))


def gensim_hdp(corpus: Corpus) -> Looks:
    """Step sizes of [W11] section 4.2; it goes over the articles when it is made."""
    from gensim.models import HdpModel

    documents = train(corpus)[:20_000]
    bows = [list(zip(*words_of(documents, d), strict=True)) for d in range(documents.D)]
    made: list[Any] = []
    options: dict[str, Any] = {
        "T": 150,
        "K": 15,
        "chunksize": 256,
        "kappa": 0.6,
        "tau": 64.0,
        "random_state": 0,
    }
    names = {n: str(n) for n in range(words(corpus))}
    spent = seconds_of(lambda: made.append(HdpModel(bows, names, **options)))
    made[0].update_expectations()
    alpha, topics = made[0].hdp_to_lda()
    fixed = FixedTopics(normalised(topics), np.maximum(alpha, 1e-6))
    yield Look(spent, normalised(topics), alpha / alpha.sum(), lambda scored: scored.score(fixed))


def vowpal_wabbit(corpus: Corpus) -> Looks:
    from vowpalwabbit import Workspace

    documents = train(corpus)
    with tempfile.TemporaryDirectory() as folder:
        texts, model = Path(folder) / "documents.vw", Path(folder) / "model.txt"
        with texts.open("w") as file:
            for d in range(documents.D):
                counted = zip(*words_of(documents, d), strict=True)
                file.write("| " + " ".join(f"{w}:{n}" for w, n in counted) + "\n")

        def learn() -> None:
            workspace = Workspace(
                f"--lda {K} --lda_D {documents.D} --lda_alpha 0.01 --lda_rho 0.01 --minibatch 256 -b 16 "
                f"--power_t 0.5 --initial_t 64 -d {texts} --readable_model {model} --quiet --no_stdin"
            )
            workspace.run_parser()
            workspace.finish()

        spent = seconds_of(learn)
        topics = np.zeros((words(corpus), K))
        for line in model.read_text().splitlines():
            place, *weights = line.split()
            if place.isdigit() and len(weights) == K and int(place) < len(topics):
                topics[int(place)] = [float(weight) for weight in weights]
    yield Look(spent, normalised(topics.T))


def _added(model: Any, corpus: Corpus) -> Any:
    """A model of tomotopy with all articles; words are their ids."""
    for d in range(train(corpus).D):
        ids, counts = words_of(train(corpus), d)
        model.add_doc(np.repeat(ids, counts).astype(str).tolist())
    return model


def _gibbs_look(model: Any, spent: float, corpus: Corpus) -> Look:
    alive = [k for k in range(model.k) if not hasattr(model, "is_live_topic") or model.is_live_topic(k)]
    used = np.array([int(word) for word in model.used_vocabs])
    topics = np.full((len(alive), words(corpus)), 1e-12)
    topics[:, used] = [model.get_topic_word_dist(k) for k in alive]
    tokens = np.asarray(model.get_count_by_topics(), float)[alive]

    def own(scored: CompletionSet) -> float:
        seen = scored.seen
        documents = [
            model.make_doc(np.repeat(*words_of(seen, d)).astype(str).tolist()) for d in range(seen.D)
        ]
        theta, _ = model.infer(documents, iter=100, workers=1)
        return scored.score(Given(normalised(topics), np.asarray(theta, np.float32)[:, alive]))

    return Look(spent, normalised(topics), tokens / tokens.sum(), own)


class Given:
    """Topics and proportions that somebody else inferred."""

    def __init__(self, topics: NDArray[Any], theta: NDArray[np.float32]) -> None:
        self.n_words, self._topics, self._theta = topics.shape[1], topics, theta

    def topics(self) -> NDArray[Any]:
        return self._topics

    def infer(self, _: Minibatch) -> NDArray[np.float32]:
        return self._theta


def _sampled(model: Any, corpus: Corpus, sweeps: tuple[int, ...]) -> Looks:
    spent, done = 0.0, 0
    for n in sweeps:
        spent += seconds_of(functools.partial(model.train, n - done, workers=1))
        done = n
        yield _gibbs_look(model, spent, corpus)


def gibbs_lda(corpus: Corpus) -> Looks:
    import tomotopy

    model = _added(tomotopy.LDAModel(k=K, alpha=0.1, eta=0.01, seed=1), corpus)
    return _sampled(model, corpus, (10, 20, 50, 100))


def gibbs_hdp(corpus: Corpus) -> Looks:
    import tomotopy

    model = _added(tomotopy.HDPModel(initial_k=K, alpha=0.1, eta=0.01, gamma=0.1, seed=1), corpus)
    return _sampled(model, corpus, (10, 20, 50, 100) if corpus == "long" else (10, 20))


# -- what is measured ------------------------------------------------------------


def measure(program: Callable[[Corpus], Looks], corpus: Corpus) -> Figures:
    """The curve by the common scorer, and at the end own score, coherence and distinctness."""
    scored = held_out(corpus)
    curve: list[tuple[float, float]] = []
    for look in program(corpus):
        common = max(scored.score(FixedTopics(look.topics, alpha)) for alpha in PRIORS)
        curve.append((look.seconds, common))
    used = look.topics if look.shares is None else look.topics[np.asarray(look.shares) > IN_USE]
    leading = top_words(used, TEN)
    return {
        "log_likelihood": curve[-1][1],
        "own": look.own(scored) if look.own else None,
        "seconds": curve[-1][0],
        "npmi": float(npmi(used, train(corpus), TEN).mean()),
        "distinct": len(np.unique(leading)) / leading.size,
        "topics": len(used),
        "curve": curve,
    }


PROGRAMS: Mapping[str, tuple[str, Callable[[Corpus], Looks], tuple[str, ...], float]] = {
    "our_scvb0": ("SCVB0", our_scvb0, (), 0.5),
    "our_lda": ("online LDA", our_lda, (), 0.5),
    "our_hdp": ("online HDP", our_hdp, (), 0.7),
    "sklearn": ("scikit-learn", sklearn_lda, ("sklearn",), 2),
    "gensim": ("gensim LdaModel", gensim_lda, ("gensim",), 2),
    "gensim_multicore": ("gensim LdaMulticore", gensim_multicore, ("gensim",), 2),
    "gensim_hdp": ("gensim HdpModel (20,000 articles)", gensim_hdp, ("gensim",), 1.5),
    "vowpal_wabbit": ("Vowpal Wabbit", vowpal_wabbit, ("vowpalwabbit",), 1.5),
    "gibbs_lda": ("tomotopy LDA, 100 sweeps", gibbs_lda, ("tomotopy",), 5),
    "gibbs_hdp": ("tomotopy HDP (long: 100 sweeps, short: 20)", gibbs_hdp, ("tomotopy",), 10),
}
"""By point: its name in tables, and how to run it."""

for _corpus in CORPORA:
    for _name, (_, _program, _needs, _minutes) in PROGRAMS.items():
        PART.add(
            f"{_corpus}_{_name}", functools.partial(measure, _program, _corpus), *_needs, minutes=_minutes
        )


def beside(corpus: Corpus, points: Mapping[str, Figures]) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for name, (label, *_) in PROGRAMS.items():
            if found := points.get(f"{corpus}_{name}"):
                one: Any = found
                own = f"{one['own']:.3f}" if one["own"] is not None else "-"
                yield (
                    label,
                    f"{one['log_likelihood']:.3f}",
                    own,
                    f"{one['npmi']:.3f}",
                    f"{one['distinct']:.2f}",
                    f"{one['topics']}",
                    f"{one['seconds']:,.1f}",
                )

    head = (
        "",
        "log-likelihood",
        "by its own proportions",
        "NPMI",
        "distinct words",
        "topics in use",
        "CPU s",
    )
    return table(head, rows())


def by_seconds(points: Mapping[str, Figures]) -> Figure:
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, 2, figsize=(11, 4.6))
    for axes, corpus in zip(places, CORPORA, strict=True):
        for name, (label, *_) in PROGRAMS.items():
            if found := points.get(f"{corpus}_{name}"):
                curve: Any = found["curve"]
                line = "-" if name.startswith("our") else "--"
                axes.plot(*zip(*curve, strict=True), line, marker=".", label=label)
        axes.set(xscale="log", xlabel="CPU seconds", title=f"{corpus} articles")
        axes.grid(alpha=0.3)
    places[0].set_ylabel("log-likelihood, nats a held-out word")
    places[1].legend(fontsize="x-small")
    figure.tight_layout()
    return figure


PART.pages |= {corpus: functools.partial(beside, corpus) for corpus in CORPORA}
PART.pictures["by_seconds"] = by_seconds
