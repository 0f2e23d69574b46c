import subprocess
import sys

import pytest


def test_importing_model_loads_neither_numpy_nor_numba():
    code = (
        "import sys, model; model.KINDS; print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_unknown_names_are_attribute_errors():
    import model

    with pytest.raises(AttributeError):
        model.NoSuchModel  # noqa: B018
