"""The first start compiles, later ones load what was compiled: both must learn the same, bit for bit."""

import os
import subprocess
import sys

import pytest

from tests.commands import ROOT
from tests.model.conftest import needs_jit

SCRIPT = """
import hashlib
import numpy as np
from wikitopics.model import Minibatch, kinds
random = np.random.default_rng(0)
for kind in kinds.names():
    model = kinds.load(kind).create(8, 300, 900)
    for _ in range(4):
        rows = random.multinomial(60, random.dirichlet(np.full(300, 0.05), 8).mean(axis=0), size=100)
        indptr = np.concatenate([[0], np.cumsum((rows > 0).sum(axis=1))])
        model.learn(Minibatch(indptr, np.nonzero(rows)[1], rows[rows > 0]))
    arrays = [value for value in model.state().values() if isinstance(value, np.ndarray)]
    print(kind, hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


@pytest.mark.long
@needs_jit
def test_compiled_now_and_loaded_from_the_cache_are_the_same_kernels(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    found = [
        subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert found[0].stdout.count("\n") == 3, found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert list(tmp_path.rglob("*.nbc"))
