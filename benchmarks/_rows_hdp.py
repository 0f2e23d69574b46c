"""OnlineHDP's rows of the table."""

from __future__ import annotations

import functools

from benchmarks import _data as data
from benchmarks._measure import Curve, cpu_seconds, curve, growing, learn_all, minibatches
from benchmarks._peers import GensimHdp, SklearnLDA
from benchmarks._row import Row, row
from benchmarks._rows_lda import gibbs_topics, paper_curve
from benchmarks._rows_scvb0 import with_our_proportions
from model import CompletionSet, OnlineHDP

W = 7702
SMALLER = {"max_topics": 150, "max_topics_per_document": 15}  # [W11] section 4.2


def warm_up(**options: int) -> None:
    """Compile."""
    model = OnlineHDP(W, 1000, **options)
    model.learn(data.stream()[:1000])
    data.held_out().score(model)


@functools.cache
def default_curve() -> Curve:
    warm_up()
    batches = growing(data.stream(), OnlineHDP.default_batch_size)
    return curve("OnlineHDP", OnlineHDP(W, data.stream().D), batches, data.held_out())


@row("gensim")
def against_gensim() -> list[Row]:
    documents = data.stream()[:20_000]
    warm_up(**SMALLER)
    ours = OnlineHDP(W, documents.D, **SMALLER)
    start = cpu_seconds()
    learn_all(ours, growing(documents, 1024))
    ours.topics()
    seconds = cpu_seconds() - start
    theirs = GensimHdp(documents, data.words(), T=150, K=15)
    speeds = documents.D / seconds, documents.D / theirs.seconds
    scores = data.held_out().score(ours), data.held_out().score(theirs.scorer())
    return [
        Row(
            "OnlineHDP / gensim HdpModel (K = 150, T = 15), documents per CPU second",
            speeds[0] / speeds[1],
            5,
            10,
            f"{speeds[0]:,.0f} / {speeds[1]:,.0f}",
        ),
        Row(
            "OnlineHDP above gensim HdpModel after 20,000, nats a word",
            scores[0] - scores[1],
            0.1,
            0.1,
            f"{scores[0]:.3f} / {scores[1]:.3f}",
        ),
    ]


@row()
def above_lda_at_the_papers_settings() -> Row:
    ours, paper = default_curve(), paper_curve()
    return Row(
        "OnlineHDP above OnlineLDA at [H10]'s settings, nats a word",
        ours.log_likelihood[-1] - paper.log_likelihood[-1],
        0.05,
        0.1,
        f"{ours.log_likelihood[-1]:.3f} in {ours.seconds[-1]:.1f} s / {paper.log_likelihood[-1]:.3f}",
    )


@row("sklearn")
def long_articles() -> Row:
    documents, held_out = data.long_articles()
    warm_up(max_topics=150)
    ours = OnlineHDP(W, documents.D, max_topics=150)
    theirs = SklearnLDA(150, W, documents.D)
    start = cpu_seconds()
    learn_all(ours, growing(documents, 1024))
    ours.topics()
    middle = cpu_seconds()
    learn_all(theirs, minibatches(documents, 1024))
    end = cpu_seconds()
    speeds = documents.D / (middle - start), documents.D / (end - middle)
    return Row(
        "380 words: OnlineHDP (K = 150) / scikit-learn's LDA (K = 150), documents per CPU second",
        speeds[0] / speeds[1],
        2,
        2,
        f"{speeds[0]:,.0f} / {speeds[1]:,.0f}; log-likelihood {held_out.score(ours):.3f} / "
        f"{held_out.score(theirs):.3f}",
    )


@row("tomotopy")
def one_pass_against_gibbs() -> list[Row]:
    seconds, topics = gibbs_topics()
    ours = default_curve()
    score: CompletionSet = data.held_out()
    found = []
    for how, theirs in (
        ("variational proportions for theirs", topics),
        ("our proportions for both", with_our_proportions(topics)),
    ):
        value = score.score(theirs)
        found.append(
            Row(
                f"OnlineHDP in one pass above 100 Gibbs sweeps ({how}), nats a word",
                ours.log_likelihood[-1] - value,
                -0.02,
                0.0,
                f"{ours.log_likelihood[-1]:.3f} in {ours.seconds[-1]:.1f} s / {value:.3f} in {seconds:.0f} s",
            )
        )
    return found
