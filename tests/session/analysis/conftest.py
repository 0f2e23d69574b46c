"""A session of every kind of model."""

import shutil

import pytest


@pytest.fixture(scope="session")
def three_once(corpus, made_once):
    from wikitopics.cli import run

    def train(folder):
        models = [f"--model={spec}" for spec in ("lda:topics=5", "scvb0:topics=5", "hdp:topics=12")]
        small = ["--batch-size", "64", "--held-out", "40", "--seed", "3"]
        assert run(["train", *corpus.options(), *models, *small, "--session", str(folder / "three.db")]) == 0

    return made_once("three", train) / "three.db"


@pytest.fixture
def three(three_once, home):
    """The session `default` of an LDA, a SCVB0 and an HDP, finished."""
    home.mkdir(exist_ok=True)
    return shutil.copy(three_once, home / "default.db")
