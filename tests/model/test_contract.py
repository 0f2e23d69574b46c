"""What every model promises, whatever its kind."""

import importlib.util

import numpy as np
import pytest

import model
from model import KINDS, Minibatch, document_completion
from tests.model.conftest import planted

# A kind joins these tests as soon as its module is there.
PRESENT = [kind for kind in KINDS if importlib.util.find_spec(f"model.{kind}")]
W = 40
VARIANTS = {
    "lda": ({}, {"alpha": "learn", "eta": "learn"}, {"tau0": 1, "kappa": 0.7, "dtype": "float64"}),
    "scvb0": (
        {},
        {"alpha": "learn", "eta": "learn", "kappa": "adaptive"},
        {"kappa": 0.7, "theta_s": 2, "n_tokens": 9000, "warm_start": False},
    ),
    "hdp": ({}, {"warm_start": False}, {"n_documents": 100, "eta": 0.1}),
}


def maker(kind):
    sizes = {"max_topics": 12} if kind == "hdp" else {"n_topics": 6}

    def make(**options):
        return KINDS[kind](**{"n_words": W, "n_documents": 300, "seed": 3, **sizes, **options})

    return make


@pytest.fixture(params=PRESENT)
def make(request):
    return maker(request.param)


@pytest.fixture(scope="module")
def batches():
    batch, _ = planted(300, n_words=W, n_topics=4)
    return [batch[:64], batch[64:80], batch[80:81], batch[81:200], batch[200:]]


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert type(a[name]) is type(b[name]), name
        if isinstance(a[name], np.ndarray):
            assert a[name].dtype == b[name].dtype
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)
        else:
            assert a[name] == b[name], name


def test_shapes_and_sums(make, batches):
    m = make()
    K = m.n_topics
    assert m.kind in KINDS
    assert m.default_batch_size >= 1
    assert (m.n_words, m.n_documents, m.updates, m.rho) == (W, 300, 0, 0.0)
    for t, batch in enumerate(batches):
        theta = m.learn(batch)
        assert theta.shape == (batch.D, K)
        assert theta.dtype == np.float32
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-4)
        assert m.updates == t + 1
        assert 0 < m.rho <= 1
    theta = m.infer(batches[0])
    assert theta.dtype == np.float32
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-4)
    assert (theta >= 0).all()
    assert m.topics().shape == (K, W)
    np.testing.assert_allclose(m.topics().sum(axis=1), 1, rtol=1e-4)
    assert (m.topics() >= 0).all()
    assert m.topic_shares().shape == (K,)
    assert m.topic_shares().sum() == pytest.approx(1, rel=1e-4)
    assert m.document_prior().shape == (K,)
    assert (m.document_prior() > 0).all()
    assert 1 <= m.topics_in_use() <= K
    assert isinstance(m.topics_in_use(), int)


def test_measuring_and_inferring_change_nothing(make, batches):
    m = make()
    m.learn(batches[0])
    before = m.state()
    m.infer(batches[1])
    m.topics()
    m.topic_shares()
    document_completion(m, batches[2])
    same(before, m.state())


def test_learns(make):
    batch, _ = planted(300, n_words=W, n_topics=4)
    held_out, _ = planted(80, seed=1, n_words=W, n_topics=4)
    m = make(n_documents=1500)
    for _ in range(5):
        for start in range(0, 300, 64):
            m.learn(batch[start : start + 64])
    unigram = np.bincount(batch.word_ids, batch.counts, minlength=W) / batch.n_tokens
    alone = held_out.counts @ np.log(unigram[held_out.word_ids]) / held_out.n_tokens
    assert document_completion(m, held_out) > alone + 0.2


def test_minibatch_without_documents_changes_nothing(make):
    m = make()
    before = m.state()
    theta = m.learn(Minibatch([0], [], []))
    assert theta.shape == (0, m.n_topics)
    assert m.infer(Minibatch([0], [], [])).shape == (0, m.n_topics)
    same(before, m.state())


def test_documents_without_words_get_the_prior(make, batches):
    m = make()
    m.learn(Minibatch([0, 0, 2, 2], [3, 7], [1, 2]))
    m.learn(Minibatch([0, 0], [], []))
    m.learn(batches[0])
    empty = m.infer(Minibatch([0, 0, 0], [], []))
    prior = m.document_prior() / m.document_prior().sum()
    np.testing.assert_allclose(empty, np.tile(prior, (2, 1)), rtol=1e-3, atol=1e-6)
    assert np.isfinite(m.topics()).all()


def test_word_ids_out_of_range_are_refused_before_any_change(make, batches):
    m = make()
    m.learn(batches[0])
    before = m.state()
    wrong = Minibatch([0, 1, 2], [1, W], [1, 1])
    for use in (m.learn, m.infer):
        with pytest.raises(ValueError, match="out of range"):
            use(wrong)
    same(before, m.state())


def test_one_seed_one_result_for_any_threads(make, batches):
    a, b, other = make(), make(threads=3), make(seed=4)
    for batch in batches:
        theta = a.learn(batch)
        np.testing.assert_array_equal(theta, b.learn(batch))
        other.learn(batch)
    same(a.state(), b.state())
    np.testing.assert_array_equal(a.infer(batches[0]), b.infer(batches[0]))
    assert not np.array_equal(a.topics(), other.topics())


@pytest.mark.parametrize(
    ("kind", "options"),
    [(kind, options) for kind in PRESENT for options in VARIANTS[kind]],
    ids=lambda value: value if isinstance(value, str) else ",".join(value) or "defaults",
)
def test_save_and_go_on_equals_uninterrupted(kind, options, batches, tmp_path):
    """Kept as .npz before the first minibatch and after each one."""
    straight, resumed = maker(kind)(**options), maker(kind)(**options)
    for batch in (None, *batches):
        if batch is not None:
            np.testing.assert_array_equal(straight.learn(batch), resumed.learn(batch))
        state = resumed.state()
        for name, value in state.items():
            assert type(value) in (np.ndarray, bool, int, float, str), name
            assert not isinstance(value, np.ndarray) or not value.dtype.hasobject, name
        np.savez(tmp_path / "model.npz", allow_pickle=False, **state)
        with np.load(tmp_path / "model.npz") as kept:
            resumed = type(straight).from_state(dict(kept))
        resumed.threads = 2
        same(straight.state(), resumed.state())
        np.testing.assert_array_equal(straight.topics(), resumed.topics())
        np.testing.assert_array_equal(straight.infer(batches[0]), resumed.infer(batches[0]))
        assert (resumed.updates, resumed.rho) == (straight.updates, straight.rho)


@pytest.mark.parametrize("drawn", [0, 1])
def test_the_generator_goes_on_where_it_was(make, drawn):
    """With half of a 64-bit number waiting, too."""
    m = make()
    m._random.integers(0, 9, drawn, dtype=np.int32)
    assert m._random.bit_generator.state["has_uint32"] == drawn
    other = type(m).from_state(m.state())
    assert other._random.bit_generator.state == m._random.bit_generator.state
    same(m.state(), other.state())


def test_a_state_is_a_copy_and_knows_its_kind(make, batches):
    m = make()
    m.learn(batches[0])
    state = m.state()
    assert state["kind"] == m.kind
    kept = {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in state.items()}
    copy = type(m).from_state(state)
    copy.learn(batches[1])
    m.learn(batches[1])
    same(kept, state)
    with pytest.raises(ValueError, match="kind"):
        type(m).from_state({**state, "kind": "other"})


def test_extremes(make):
    m = make()
    long = Minibatch([0, W], range(W), [50_000 // W] * W)
    m.learn(long)
    assert np.isfinite(m.infer(long)).all()
    assert np.isfinite(m.topics()).all()


def test_one_word_and_few_topics(make):
    small = {"n_words": 1, "n_documents": 5}
    sizes = {"max_topics": 2} if make().kind == "hdp" else {"n_topics": 1}
    m = KINDS[make().kind](**small, **sizes)
    theta = m.learn(Minibatch([0, 1, 2], [0, 0], [3, 1]))
    assert np.isfinite(theta).all()
    np.testing.assert_allclose(m.topics(), 1)


def test_every_name_can_be_imported_lazily():
    for kind in PRESENT:
        assert model.KINDS[kind].kind == kind
    assert list(KINDS) == ["lda", "scvb0", "hdp"]
    with pytest.raises(KeyError):
        KINDS["lsi"]
