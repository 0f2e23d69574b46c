import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.model.conftest import planted, read
from tests.model.reference import scvb0 as oracle
from wikitopics.model import SCVB0, Minibatch


def make(**options):
    settings = {"n_topics": 5, "n_words": 30, "n_documents": 1000, "seed": 1, **options}
    return SCVB0(**settings)


def counts_of(model):
    """N_phi, how often each word is expected to have each topic in the corpus, and N_Z, its sums
    over the words."""
    state = model.state()
    return state["scale"] * state["lambda_hat"], state["scale"] * state["total_hat"]


@pytest.mark.parametrize("burn_in", [0, 1, 3])
@pytest.mark.parametrize(("alpha", "eta"), [(0.1, 0.01), (1e-6, 0.5), (10.0, 1e-3)])
def test_float64_steps_are_the_papers(documents, burn_in, alpha, eta):
    model = make(
        alpha=alpha,
        eta=eta,
        n_tokens=15_000,
        burn_in=burn_in,
        dtype="float64",
        warm_start=False,
    )
    N_phi, N_Z = counts_of(model)
    batches = [documents[:10], documents[10:11], documents[11:], documents]
    for t, batch in enumerate(batches, start=1):
        step = 10 * (1000 + t) ** -0.9
        N_theta, N_phi, N_Z = oracle.learn(
            batch,
            N_phi,
            N_Z,
            np.full(5, alpha),
            eta,
            C=15_000,
            step=step,
            steps=(1, 10, 0.9),
            burn_in=burn_in,
        )
        theta = N_theta + alpha
        theta /= theta.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.learn(batch), theta, rtol=1e-6)
        assert model.rho == step
        for found, expected in zip(counts_of(model), (N_phi, N_Z), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)
    beta = N_phi.T + eta
    np.testing.assert_allclose(model.topics(), beta / beta.sum(axis=1, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(model.topic_rows(np.arange(30)), model.topics().T, rtol=1e-10)
    np.testing.assert_allclose(model.topic_shares(), N_Z / N_Z.sum(), rtol=1e-10)


@pytest.mark.usefixtures("not_short")
@pytest.mark.parametrize("warm_start", [True, False])
def test_inference_is_passes_over_the_document(documents, warm_start):
    model = make(
        alpha=0.1,
        dtype="float64",
        n_documents=24,
        kappa=0.7,
        warm_start=warm_start,
    )
    model.learn(documents)
    topics = model.topics().T
    N_theta, expected, _ = oracle.local_step(
        documents,
        topics,
        topics.sum(axis=0),
        model.alpha,
        eta=0.0,
        steps=(model.theta_s, model.theta_tau0, model.theta_kappa),
        passes=2 if warm_start else 3,
    )
    theta = 0.1 + (expected if warm_start else N_theta)
    theta /= theta.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.infer(documents), theta, rtol=1e-6)


def test_words_of_the_corpus_are_estimated_from_the_documents_seen(documents):
    model = make(s=1e6)  # rho = 1 throughout
    for batch, seen in ((documents[:10], documents[:10]), (documents[10:], documents)):
        model.learn(batch)
        _, N_Z = counts_of(model)
        assert N_Z.sum() == pytest.approx(1000 * seen.n_tokens / seen.D, rel=1e-5)


@pytest.mark.usefixtures("not_short")
def test_warm_start_anneals_alpha_and_balances_topics(documents):
    model = make(alpha=0.02, n_documents=100, dtype="float64")
    model.learn(documents)
    assert model.alpha == pytest.approx(np.full(5, 0.02)), "a fifth of the corpus is over"
    early = make(alpha=0.02, n_documents=480, n_tokens=7000, kappa=0.7, dtype="float64")
    early.learn(documents)
    mean_length = documents.n_tokens / 24
    first = 1.3 / np.sqrt(5) * mean_length / 100
    annealed = 24 / (0.2 * 480)
    assert early.alpha == pytest.approx(np.full(5, first * (0.02 / first) ** annealed))
    N_phi, N_Z = counts_of(early)
    balanced = 24 / (2 / 3 * 480)
    factors = (N_Z / N_Z.mean()) ** (-0.3 * (1 - balanced))
    _, expected, _ = oracle.learn(
        documents,
        N_phi,
        N_Z,
        early.alpha,
        early.eta,
        C=7000,
        step=3**-0.7,
        steps=(1, 1, 0.7),
        burn_in=2,  # one more than later on
        factors=factors,
    )
    early.learn(documents)
    N_phi, _ = counts_of(early)
    np.testing.assert_allclose(N_phi, expected, rtol=1e-10)


@pytest.mark.usefixtures("not_short")
def test_topics_begin_with_a_small_random_share_of_the_corpus(documents):
    model = make(n_tokens=15_000)
    N_phi, _ = counts_of(model)
    shares = N_phi / N_phi.sum()
    model.learn(documents)
    N_phi, _ = counts_of(model)
    of_random = (1 - model.rho) * 0.08 * 15_000
    of_documents = model.rho * 15_000
    assert np.all(N_phi >= of_random * shares * (1 - 1e-5))
    assert N_phi.sum() == pytest.approx(of_random + of_documents, rel=1e-5)


def test_steps_follow_the_words_seen_however_they_are_divided():
    batch, _ = planted(400, n_words=30)
    whole = make(n_documents=1e6)
    halves = make(n_documents=1e6)
    whole.learn(batch)
    kept = 1.0
    for half in (batch[:200], batch[200:]):
        halves.learn(half)
        kept *= 1 - halves.rho
    assert 1 - whole.rho == pytest.approx(kept, rel=0.01)
    for _ in range(50):
        whole.learn(batch)
    assert whole.rho == pytest.approx(1 / (0.6 * 50), rel=0.7)


def test_a_word_no_topic_likes_and_long_documents_stay_finite():
    model = SCVB0(n_topics=3, n_words=20_000, n_documents=1e9, alpha=1e-6, eta=1e-6, n_tokens=1e12)
    counts = np.full(10_000, 3)
    counts[-1] = 2_000_000_000
    long = Minibatch([0, 10_000], np.arange(10_000), counts)
    model.learn(long)
    model.learn(Minibatch([0, 1, 1], [19_999], [1]))
    assert np.all(np.isfinite(model.topics()))
    assert np.all(np.isfinite(model.infer(long)))


def test_learnt_alpha_follows_the_shape_of_the_proportions():

    def learnt(alpha):
        batch, _ = planted(4000, length=60, alpha=alpha)
        model = SCVB0(n_topics=4, n_words=40, n_documents=4000, alpha="learn")
        return read(model, batch, 100).document_prior()

    small = learnt(0.05)
    large = learnt(0.5)
    assert np.all((small > 0.03) & (small < 0.12))
    assert np.all((large > 0.15) & (large < 1.0))


def test_learnt_eta_tells_sharp_topics_from_flat_ones():
    random = np.random.default_rng(0)

    def learnt(eta):
        beta = random.dirichlet(np.full(40, eta), 4)
        theta = random.dirichlet(np.full(4, 0.1), 2000)
        counts = random.multinomial(60, theta @ beta)
        batch = Minibatch.from_csr(csr_array(counts))
        model = SCVB0(n_topics=4, n_words=40, n_documents=2000, eta="learn")
        return read(model, batch, 50).eta

    assert 0.03 < learnt(0.1) < 0.5
    assert 1.0 < learnt(2.0) < 4.0


def test_step_sizes_given_are_not_adapted(documents):
    every = {"warm_start": False, "s": 1.0, "tau0": 1.0, "kappa": 0.7}
    for options in ({"kappa": 0.7}, {"tau0": 1.0}, {"s": 1.0}, every):
        model = make(**options)
        for t in range(4):
            model.learn(documents)
            assert model.rho == (2 + t) ** -0.7
