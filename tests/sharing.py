"""What takes long to make, made once for all workers of a run."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a folder that nobody may write to afterwards: ``made_once(name, make)``.

    The first worker that needs it calls ``make(folder)`` while the others wait. Kernels that this
    worker has compiled are then there for the others, too.
    """
    everything = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        everything = everything.parent

    def made(name: str, make: Callable[[Path], object]) -> Path:
        folder = everything / name
        done = everything / f"{name}.done"
        with open(everything / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return made
