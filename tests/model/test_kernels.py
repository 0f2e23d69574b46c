"""The kernels' special functions; compiled kernels are kept for the next start, and are the same
then."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
import scipy.special

from tests.commands import ROOT, python
from tests.model.conftest import needs_jit
from wikitopics import compiled
from wikitopics.model.kernels import digamma, exp_digamma_first, log_first
from wikitopics.model.minibatch import Entries, Minibatch
from wikitopics.model.mixture_kernels import of_one_topic

# Compiled kernels are kept for the next start, where they can be, and are the same then.


SCRIPT = """
import hashlib
import numpy as np
from wikitopics.model import kinds
from wikitopics.model.checking import planted_minibatches
for kind in kinds.names():
    model = kinds.load(kind).create(8, 40, 300)
    for batch in planted_minibatches():
        model.learn(batch)
    arrays = [value for value in model.state().values() if isinstance(value, np.ndarray)]
    print(kind, hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


@pytest.mark.long
@needs_jit
def test_compiled_now_and_loaded_from_the_cache_are_the_same_kernels(tmp_path):
    first = python(SCRIPT, NUMBA_CACHE_DIR=str(tmp_path))
    second = python(SCRIPT, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.count("\n") == 3
    assert first == second
    assert list(tmp_path.rglob("*.nbc"))


def test_kernels_work_where_no_cache_can_be_written(tmp_path, monkeypatch):
    (tmp_path / "a file").touch()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    code = (
        "from wikitopics.compiled import cache_folder; from wikitopics.model.kernels import "
        "digamma; print(cache_folder(), digamma(1.0) < 0)"
    )
    blocked = str(tmp_path / "a file")
    assert python(code, HOME=blocked, XDG_CACHE_HOME=blocked) == "None True\n"


@needs_jit
def test_a_cache_folder_that_is_given_is_used(tmp_path):
    folder = tmp_path / "kernels"
    python(
        "from wikitopics.model.kernels import digamma; digamma(1.0)", NUMBA_CACHE_DIR=str(folder)
    )
    assert list(folder.rglob("*.nbi"))


def test_kernels_that_threads_define_at_once_are_all_in_the_folder(monkeypatch):
    folders = []
    config = SimpleNamespace(CACHE_DIR="another")

    def njit(**_):
        def decorate(function):
            time.sleep(0.002)
            folders.append(config.CACHE_DIR)
            return function

        return decorate

    monkeypatch.setattr(compiled, "_numba", lambda: SimpleNamespace(config=config, njit=njit))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(compiled.kernel, [len] * 40))
    assert folders == [compiled.cache_folder() or ""] * 40
    assert config.CACHE_DIR == "another"


def test_other_users_of_numba_keep_their_own_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    other = "import numba\n\n@numba.njit(cache=True)\ndef double(x):\n    return 2 * x\n"
    (tmp_path / "other.py").write_text(other)
    code = (
        "import os, other; from wikitopics.model.kernels import digamma; digamma(1.0); "
        "other.double(2)\n"
    )
    code += "print('NUMBA_CACHE_DIR' in os.environ)"
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    assert python(code, XDG_CACHE_HOME=str(tmp_path / "ours"), PYTHONPATH=path) == "False\n"
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        assert not list((tmp_path / "ours").rglob("other*"))
        assert list((tmp_path / "__pycache__").glob("other*.nbi"))


X = np.concatenate([np.logspace(-3, 6, 300), np.linspace(0.01, 30, 300)])


def test_digamma():
    np.testing.assert_allclose(
        [digamma(x) for x in X],
        scipy.special.psi(X),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_exp_digamma(dtype, rtol):
    x = X.astype(dtype)
    out = np.empty_like(x)
    exp_digamma_first(len(x), x, out)
    expected = np.exp(scipy.special.psi(x.astype(np.float64)))
    np.testing.assert_allclose(out, expected, rtol=rtol, atol=1e-30)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_log(dtype, atol):
    x = X.astype(dtype)
    out = np.empty_like(x)
    log_first(len(x), x, out)
    np.testing.assert_allclose(out, np.log(x.astype(np.float64)), rtol=2e-7, atol=atol)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-12)])
def test_the_one_topic_of_a_document_is_the_oracles(dtype, tolerance):
    D = 4
    W = 12
    K = 5
    random = np.random.default_rng(0)
    counts = random.poisson(0.6, (D, W))
    counts[2] = 0
    log_rows = random.normal(size=(W, K)).astype(dtype)
    log_prior = random.normal(size=K).astype(dtype)
    batch = Minibatch.from_csr(scipy.sparse.csr_array(counts))
    R = np.empty((D, K), dtype)
    sums = np.zeros((W, K), dtype)
    entries = Entries(batch.indptr, batch.word_ids, batch.counts)  # every word has a row
    of_one_topic(entries, log_rows, log_prior, 0.7, R, sums)
    expected = np.exp(0.7 * (counts @ log_rows + log_prior).astype(float))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(R, expected, rtol=tolerance)
    np.testing.assert_allclose(sums, counts.T @ expected, rtol=tolerance)


@needs_jit
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_kernels_whose_files_are_damaged_are_compiled_again(tmp_path, ending):
    code = "from wikitopics.model.kernels import digamma; print(digamma(1.0) < 0)"
    for data in (b"", b"damaged"):
        assert python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "True\n"
        (file,) = tmp_path.rglob(f"*.digamma-*.{ending}")
        file.write_bytes(data)
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "True\n"
    assert file.read_bytes() != b"damaged"


@needs_jit
def test_kernels_that_cannot_be_kept_are_used(tmp_path):
    code = (
        "from numba.core.caching import IndexDataCacheFile\n"
        "def full(*_): raise OSError(28, 'No space left on device')\n"
        "IndexDataCacheFile._save_data = full\n"
        "from wikitopics.model.kernels import digamma; print(digamma(1.0) < 0)"
    )
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "True\n"
