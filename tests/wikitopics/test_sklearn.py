"""`wikitopics.sklearn`: a trained session in scikit-learn."""

import io
import pickle
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import wikitopics as wt
from tests.packages import needs_scikit_learn
from wikitopics.extra import SKLEARN

pytestmark = needs_scikit_learn


def load(path):
    from wikitopics.sklearn import load as loaded

    return loaded(path)


@pytest.fixture
def exported(cli, corpus, tmp_path):
    """A file by model's name, of a session with a model of each kind."""
    models = [f"--model={kind}:topics=5" for kind in ("lda", "scvb0", "hdp")]
    assert cli("train", *corpus.options(), *models, "--batch-size", 64, "--articles", 300).code == 0
    for name in ("lda", "scvb0", "hdp"):
        assert cli("export", "model", "--model", name, "-o", tmp_path / f"{name}.npz").code == 0
    return lambda name: tmp_path / f"{name}.npz"


def test_an_exported_model_is_an_estimator(exported, corpus):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import make_pipeline

    session = wt.open()
    vocabulary = session.vocabulary()
    texts = [" ".join(corpus.words[n : n + 9]) for n in range(30)] + ["Unknown, words!", ""]
    counter = CountVectorizer(vocabulary=vocabulary.words, analyzer=vocabulary.split)
    for name in ("lda", "scvb0", "hdp"):
        loaded = load(exported(name))
        pipeline = make_pipeline(counter, FrozenEstimator(loaded))
        theta = pipeline.fit_transform(texts, [0] * len(texts))
        np.testing.assert_allclose(theta, session.infer(texts, name), atol=1e-4)
        counts = counter.transform(texts)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).transform(counts), theta)
        assert np.isfinite(loaded.score(counts))
        np.testing.assert_allclose(loaded.components_, session.model(name).topics(), rtol=1e-5)
        assert list(loaded.vocabulary_) == list(vocabulary.words)
        assert list(loaded.get_feature_names_out()) == [f"topic{k}" for k in range(5)]
        with pytest.raises(ValueError, match="expecting 60 features"):
            loaded.transform([[1, 2]])


def test_it_does_not_go_on_learning_but_begins_anew(exported):
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    loaded = load(exported("lda"))
    with pytest.raises(ValueError, match=r"wikitopics\.open\(SESSION\)"):
        loaded.partial_fit(np.ones((2, 60)))
    with pytest.raises(NotFittedError):
        clone(loaded).transform(np.ones((2, 60)))
    anew = loaded.fit(np.ones((2, 7))).partial_fit(np.ones((2, 7)))
    assert (anew.components_.shape, anew.vocabulary_) == ((5, 7), None)


def test_a_kind_without_an_estimator_says_what_to_use(exported, tmp_path):
    with np.load(exported("lda")) as arrays:
        np.savez(tmp_path / "other.npz", **{**arrays, "kind": np.array("unigrams")})
    with pytest.raises(ValueError, match=r"unigrams.*wikitopics\.open\(SESSION\)"):
        load(tmp_path / "other.npz")


def test_without_scikit_learn_it_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None; import wikitopics.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    told = f"ImportError: wikitopics.sklearn needs scikit-learn: {SKLEARN.command}"
    assert done.stderr.splitlines()[-1] == told


def bomb(path):
    """A gigabyte of equal topics."""
    K = 20_000
    W = 12_500
    arrays = {"topic_word": np.full((K, W), 1 / W, np.float32), "alpha": np.full(K, 0.1)}
    arrays |= {
        "vocabulary": np.array([f"w{word}" for word in range(W)]),
        "topic_share": np.full(K, 1 / K),
    }
    np.savez_compressed(path, **arrays)


def of_a_shape_beyond_64_bits(path):
    header = io.BytesIO()
    shape = {"descr": "<f4", "fortran_order": False, "shape": (10**40, 0)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("topic_word", "alpha", "vocabulary", "topic_share", "topic_weight", "kind"):
            archive.writestr(f"{name}.npy", header.getvalue())


def with_a_long_directory(path):
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1_000):
            archive.writestr(f"{number:040}", b"")


def with_another_directory(path):
    """A zip with two end records; a reader takes the one that may describe larger files."""
    np.savez(path, topic_word=np.eye(2))
    path.write_bytes(path.read_bytes()[:-22] + b"PK\6\7" + bytes(16) + path.read_bytes()[-22:])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (bomb, "unpacks to 1,001 MB"),
        (of_a_shape_beyond_64_bits, "too large"),
        (with_a_long_directory, "too many arrays"),
        (with_another_directory, "does not end as an .npz"),
    ],
)
def test_what_takes_all_memory_is_refused_before_it_does(tmp_path, make, says):
    from wikitopics.sklearn import load  # whose imports are not to be counted

    path = tmp_path / "m.npz"
    make(path)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=says) as caught:
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
