"""A model of somebody else's package: it joins by its entry point, and not a line of ours knows of it."""

import json
import re
import shlex
import sys

import numpy as np
import pytest

import wikitopics as wt
from tests import packages
from wikitopics.crawler.embedded.source import EmbeddedWiki
from wikitopics.session.analysis.tables import TABLES

SECTION = packages.section("A model of your own")
(RACE,) = packages.commands(SECTION)
OF_MODELS = [name for name, one in TABLES.items() if "model" in one.columns and name != "events"]
"""Those with rows of every model: in so short a race nothing happens to most topics."""
MODELS = {"unigrams", "lda"}
SMALL = ["--batch-size", 64, "--held-out", 40, "--seed", 3]


def test_it_is_checked_as_the_document_says(unigrams):
    (check,) = packages.blocks(SECTION, "python")
    exec(check, {})


def test_it_is_imported_only_when_it_is_named(unigrams, cli, corpus):
    assert "'unigrams'?" in cli("train", "--model", "unigram").err
    assert cli("train", *corpus.options(), *SMALL, "--articles", 64, "--model", "lda:topics=3").code == 0
    assert cli("status").code == 0
    assert unigrams.module not in sys.modules


def test_it_is_listed_with_its_options(unigrams, cli):
    told = cli("train", "--model", "help").out
    assert "unigrams" in told
    assert "decay" in told


def test_a_race_against_ours_is_over_the_same_articles_and_the_same_held_out_ones(race, cli):
    models = {one["name"]: one for one in json.loads(cli("status", "--json").out)["models"]}
    assert {(name, one["kind"], one["topics"]) for name, one in models.items()} == {
        (name, name, 20) for name in MODELS
    }
    assert models["unigrams"]["updates"] == models["lda"]["updates"] > 5
    for one in models.values():
        assert 10 < one["perplexity"] < 60  # of 60 words
    points = {name: [m for m in wt.open().metrics(name) if m.metric == "perplexity"] for name in models}
    assert [m.tokens for m in points["unigrams"]] == [m.tokens for m in points["lda"]]


def test_it_can_be_tried_offline_as_the_document_says(unigrams, cli):
    (started,) = re.findall(r"`python -m wikitopics\.crawler\.embedded (.*?)`", SECTION)
    (added,) = re.findall(r"`(--session \w+ --api-url)`", SECTION)
    wiki = EmbeddedWiki(shlex.split(started))
    try:
        outcome = cli(*RACE, *shlex.split(added), wiki.url, *SMALL, "--articles", 64)
    finally:
        wiki.stop()
    assert outcome.code == 0, outcome.err
    assert "--articles 64 is reached" in outcome.err


def test_every_command_answers_for_it(race, cli, tmp_path):
    assert "unigrams   unigrams, 20 topics" in cli("status").out
    topics = json.loads(cli("topics", "--json", "--top", 50).out)
    assert len(topics) == 20
    words = [word["word"] for word in topics[0]["words"]]
    assert len(words) == 50
    articles = json.loads(cli("articles", "--topic", topics[0]["topic"], "--json").out)
    assert articles[0]["proportion"] > 0.9
    (tmp_path / "text").write_text(" ".join(words[:9]))
    (inferred,) = json.loads(cli("infer", tmp_path / "text", "--json").out)
    assert np.argmax(inferred["proportions"]) == topics[0]["topic"]


@pytest.mark.parametrize("what", OF_MODELS)
def test_every_table_has_it(race, cli, what):
    rows = cli("export", what).out.splitlines()
    column = rows[0].split(",").index("model")
    assert {row.split(",")[column] for row in rows[1:]} == MODELS
    assert {row["model"] for row in json.loads(cli("export", what, "--format", "json").out)} == MODELS


def test_its_own_metric_is_exported(race, cli):
    rows = [row.split(",") for row in cli("export", "metrics").out.splitlines()]
    values = [float(row[-1]) for row in rows if row[4] == "certainty"]
    assert {row[0] for row in rows if row[4] == "certainty"} == {"unigrams"}
    assert 0 < values[0] <= values[-1] <= 1


def test_it_leaves_as_arrays(race, cli, tmp_path):
    assert cli("export", "model", "-o", tmp_path / "model.npz").code == 0
    with np.load(tmp_path / "model.npz") as arrays:
        assert arrays["topic_word"].shape == (20, 60)
        np.testing.assert_allclose(arrays["topic_word"].sum(axis=1), 1, 1e-5)


def test_python_has_it(race):
    session = wt.open()
    model = session.model()
    assert (type(model).__name__, model.decay) == ("MixtureOfUnigrams", 0.7)
    assert len(session.topics()) == 20
    theta = session.infer(["aaa aab aac", "and of"])
    np.testing.assert_allclose(theta[1], model.document_prior() / model.document_prior().sum(), 1e-4)
    before = model.updates
    model.learn(wt.Minibatch([0, 2], [1, 2], [1, 1]))
    assert model.updates == before + 1
    assert session.model().updates == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "unigrams:topics=20,decay=0.8", "--model", "lda:topics=20"], "--model"),
        (["--model", "unigrams:topics=20,decay=0.7"], "--model"),
        (["--topics", 21], "--topics"),
        (["--eta", 0.2], "--eta"),
    ],
)
def test_other_options_than_the_sessions_are_refused(race, cli, one_line, arguments, says):
    one_line(cli("train", *arguments), 2, says)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("unigrams:decay=0.3", "decay must be a number from 0.5 to 1"),
        ("unigrams:kappa=0.7", "'kappa' is not a setting of unigrams"),
        ("unigrams:topics=0", "topics must be"),
    ],
)
def test_options_that_it_does_not_take_are_refused(unigrams, cli, one_line, spec, says):
    one_line(cli("train", "--model", spec), 2, spec, says)


def test_an_error_of_its_own_leaves_the_session_whole(
    documented, cli, corpus, states, assert_same_states, home, tmp_path, monkeypatch
):
    module = "wikitopics_unigrams"
    source = packages.files(SECTION)[f"{module}.py"]
    broken = source.replace("rho = (self", "assert self.updates < 6, 'a bug'\n            rho = (self")
    points = {"wikitopics.models": {"unigrams": f"{module}:MixtureOfUnigrams"}}
    packages.by_hand(tmp_path / "broken", "broken", module, broken, points)
    failing, mended = packages.Package(module, tmp_path / "broken"), documented("A model of your own")
    failing.install(monkeypatch)
    with pytest.raises(AssertionError, match="a bug"):
        cli(*RACE, *corpus.options(), *SMALL)
    failing.uninstall(monkeypatch)
    mended.install(monkeypatch)
    assert cli("train").code == 0
    assert cli(*RACE, *corpus.options(), *SMALL, "--session", "undisturbed").code == 0
    assert_same_states(states(home / "default.db"), states(home / "undisturbed.db"))


# Packages that do not work


def test_one_that_is_broken_is_one_line(install, cli, one_line):
    """What else may be wrong: tests/model/test_kinds.py."""
    install("import no_such_library", "wikitopics.models", odd="odd_models:Kind")
    says = "No module named 'no_such_library'"
    one_line(cli("train", "--model", "odd"), 2, "'odd'", "odd_models:Kind", says)


# A session whose package is gone


@pytest.fixture
def left(race, unigrams, monkeypatch):
    unigrams.uninstall(monkeypatch)
    return race


def test_training_on_needs_the_package(left, cli, one_line):
    one_line(cli("train"), 1, "no installed package provides the kind of model 'unigrams'")
    one_line(
        cli("train", "--model", "unigrams", "--session", "other"), 2, "'unigrams' is not a kind of model"
    )


@pytest.mark.parametrize("command", ["infer", "export model -o model.npz", "topics --top 50"])
def test_what_needs_the_model_itself_says_so(left, cli, one_line, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("aaa aab")
    arguments = [*command.split(), "text"] if command == "infer" else command.split()
    one_line(cli(*arguments), 1, "'unigrams'", "package")


def test_everything_that_is_kept_can_still_be_read(left, cli, tmp_path):
    assert "unigrams   unigrams, 20 topics" in cli("status").out
    assert len(json.loads(cli("topics", "--json").out)) == 20
    assert cli("articles", "--topic", 0).code == 0
    for command in ("topics --all", "topics --tree", "history", "history 3", "topics rename 3 Rivers"):
        assert cli(*command.split()).code == 0, command
    for what in ("topics", "history", "metrics", "articles", "events"):
        for form in ("csv", "json"):
            exported = cli("export", what, "--format", form)
            assert exported.code == 0, exported.err
            assert "unigrams" in exported.out
    assert "certainty" in cli("export", "metrics").out
    assert cli("backup", tmp_path / "copy.db").code == 0
    assert "default" in cli("sessions").out
    session = wt.open()
    assert len(session.topics()) == 20
    assert session.model("lda").n_topics == 20
    with pytest.raises(wt.SessionError, match="'unigrams'"):
        session.model()
