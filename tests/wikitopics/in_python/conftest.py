"""Where the sessions of these tests are, and where their trainers run."""

import pytest


@pytest.fixture
def in_a_process():
    """For a test that is about it: the trainer is a process of its own, as it is for users."""


@pytest.fixture(autouse=True)
def trainers(request):
    if "in_a_process" not in request.fixturenames:
        request.getfixturevalue("trainers_run_here")


@pytest.fixture
def path(home):
    return home / "notes.db"
