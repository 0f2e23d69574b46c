import os
import subprocess
import sys

import pytest

from tests.commands import ROOT


def test_importing_model_loads_neither_numpy_nor_numba():
    code = (
        "import sys; from wikitopics.model import Option, kinds; kinds.names()\n"
        "print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(ImportError):
        from wikitopics.model import NoSuchModel  # noqa: F401


def test_kernels_work_where_no_cache_can_be_written(tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    env.update(HOME=str(blocked), XDG_CACHE_HOME=str(blocked))
    code = (
        "from wikitopics.model.compiling import cache_folder; from wikitopics.model.kernels import digamma; "
    )
    code += "print(cache_folder(), digamma(1.0) < 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == "None True\n"


def test_a_cache_folder_that_is_given_is_used(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    code = "from wikitopics.model.kernels import digamma; digamma(1.0)"
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        assert list((tmp_path / "kernels").rglob("*.nbi"))


def test_other_users_of_numba_keep_their_own_cache(tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    env["XDG_CACHE_HOME"] = str(tmp_path / "ours")
    other = tmp_path / "other.py"
    other.write_text("import numba\n\n@numba.njit(cache=True)\ndef double(x):\n    return 2 * x\n")
    code = "import os, other; from wikitopics.model.kernels import digamma; digamma(1.0); other.double(2)\n"
    code += "print('NUMBA_CACHE_DIR' in os.environ)"
    env["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{ROOT}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == "False\n"
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        assert not list((tmp_path / "ours").rglob("other*"))
        assert list((tmp_path / "__pycache__").glob("other*.nbi"))
