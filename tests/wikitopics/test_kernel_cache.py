"""Compiled kernels are kept for the next start, and compiled again if their files are damaged."""

import pytest

from tests.commands import python

KERNEL = """
from wikitopics.compiled import kernel

@kernel
def double(number):
    return 2 * number
"""
CALLED = "import kernels; print(kernels.double(3.0), len(kernels.double.stats.cache_hits))"
COMPILER = "import kernels, sys; kernels.double(3.0); print('numba.np.linalg' in sys.modules)"
"""Whether what only compiling needs has been loaded."""


@pytest.fixture
def called(tmp_path):
    """Calls the kernel in a process of its own: what it returns, and how often it was found."""
    (tmp_path / "kernels.py").write_text(KERNEL)

    def call(program=CALLED):
        return python(
            program,
            PYTHONPATH=str(tmp_path),
            NUMBA_CACHE_DIR=str(tmp_path / "kept"),
            NUMBA_DISABLE_JIT="0",
        ).split()

    return call


def test_a_second_start_compiles_nothing(called):
    assert called() == ["6.0", "0"]
    assert called() == ["6.0", "1"]


def test_a_kept_kernel_loads_nothing_that_only_compiling_needs(called):
    assert called(COMPILER) == ["True"]
    assert called(COMPILER) == ["False"]


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_damaged_files_are_replaced(called, tmp_path, pattern):
    called()
    [damaged] = (tmp_path / "kept").rglob(pattern)
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert called() == ["6.0", "0"]
    assert called() == ["6.0", "1"]
