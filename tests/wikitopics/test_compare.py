"""`compare`: sessions and models beside each other, on articles that none of them has trained
on."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.corpora import SMALL
from tests.session.rows import sql
from wikitopics.model import CompletionSet


@pytest.fixture
def other(cli, corpus):
    """Makes a session `other` with 20 held-out articles that has trained on 100."""

    def make(*more, of=corpus):
        small = ["--topics", 3, "--batch-size", 32, "--held-out", 20, "--articles", 100]
        outcome = cli.ok("train", *of.options(), *small, "--session", "other", *more)
        assert cli.json("status", "--session", "other")["articles"] == 100, outcome.err

    return make


def as_wiki(path, source, options):
    """Have a session say that it is of this source."""
    for key, value in (("source", source), ("source_options", options)):
        sql(path, "UPDATE settings SET value = ? WHERE key = ?", json.dumps(value), key)


def test_a_session_alone_has_the_scores_of_its_last_evaluation(cli, trained):
    outcome = cli("compare", "default", "--json")
    found = json.loads(outcome.out)
    (model,) = cli.json("status")["models"]
    assert found["articles"] == 40
    (row,) = found["models"]
    assert row["log_likelihood"] == pytest.approx(model["log_likelihood"], rel=1e-6)
    assert row["perplexity"] == pytest.approx(model["perplexity"], rel=1e-6)
    assert (row["session"], row["model"], row["difference"]) == ("default", "lda", 0.0)
    assert row["standard_error"] == 0.0
    assert found["remarks"] == []
    assert outcome.err == ""


def test_what_one_has_trained_on_is_scored_for_none(cli, trained, other):
    other("--model", "lda", "--model", "hdp")
    found = cli.json("compare", "default", "other")
    assert found["articles"] == 20, "the other has trained on the rest of those held out"
    rows = {(row["session"], row["model"]) for row in found["models"]}
    assert rows == {("default", "lda"), ("other", "lda"), ("other", "hdp")}
    differences = [row["difference"] for row in found["models"]]
    assert differences == sorted(differences, reverse=True)
    assert differences[0] == 0.0
    table = cli("compare", "other", "default").out.splitlines()
    assert table[0] == "20 documents that no model was trained on"
    assert len(table) == 2 + 3


def test_what_is_not_known_is_said(cli, trained, other, home):
    other("--keep-articles", "none")
    outcome = cli("compare", "default", "other")
    assert outcome.out.startswith("20 documents"), "those that both hold out"
    assert "other did not record which articles it trained on" in outcome.err
    (home / "other.db").unlink()
    other("--keep-articles", "none", "--held-out", 0)
    outcome = cli("compare", "default", "other")
    assert (outcome.code, outcome.out) == (1, "")
    assert "no held-out article is known to be new to all" in outcome.err
    assert "other did not record" in outcome.err


def test_documents_of_another_file_are_taken_for_other_ones_and_that_is_said(
    cli,
    trained,
    other,
    corpus_of,
):
    other(of=corpus_of(300, seed=9))
    outcome = cli("compare", "default", "other")
    assert outcome.out.startswith("60 documents")
    assert outcome.err.startswith("assuming that default and other read different texts")


@pytest.mark.parametrize(
    ("source", "options", "articles"),
    [
        ("api", {"api_url": "https://de.wikipedia.org/w/api.php"}, 80),
        ("html", {"api_url": "https://en.wikipedia.org/w/api.php"}, 40),
        ("dump", {"dump": ["pages.xml"]}, 40),
    ],
)
def test_page_ids_are_those_of_a_wiki(cli, trained, home, source, options, articles):
    shutil.copy(trained, home / "other.db")
    as_wiki(trained, "api", {"api_url": "https://en.wikipedia.org/w/api.php"})
    as_wiki(home / "other.db", source, options)
    outcome = cli("compare", "default", "other", "--json")
    assert json.loads(outcome.out)["articles"] == articles, outcome.err


def test_other_words_are_refused(cli, trained, other, corpus_of, one_line):
    other(of=corpus_of(300, words=50))
    one_line(cli("compare", "default", "other"), 2, "different vocabularies")


def test_before_anything_is_held_out(cli, new_session, corpus, home, one_line):
    new_session(home / "new.db", corpus)
    one_line(cli("compare", "new"), 1, "no held-out articles yet in new")
    one_line(cli("compare", "none"), 1, "there is no session", "Available: new")
    one_line(cli("compare", "nwe"), 1, "there is no session", "Did you mean 'new'")
    one_line(cli("compare"), 1, "there is no session")


def test_held_out_documents_of_one_word_predict_nothing(cli, home, one_line):
    home.mkdir(parents=True, exist_ok=True)
    (home / "river.jsonl").write_text('{"text": "river"}\n' * 20)
    source = ["--source", "texts", "--texts", home / "river.jsonl", "--model", "hdp"]
    assert cli("train", "--session", "river", *source).code == 0
    one_line(cli("compare", "river"), 1, "no held-out article has two different words")


def test_one_of_the_sessions_may_be_named_as_everywhere(cli, trained, other):
    other()
    alone = cli("compare", "default")
    both = cli("compare", "other", "default")
    assert alone.code == both.code == 0
    assert cli("compare").out == alone.out == cli("compare", "--session", "default").out
    assert cli("compare", "--session", "").code == 2
    assert cli("compare", "other", "--session", "default").out == both.out


def test_a_trainer_can_trim_its_log_while_models_are_scored(cli, trained, monkeypatch):
    were_busy = []
    nats = CompletionSet.nats

    def nats_beside_a_trainer(self, model):
        with closing(sqlite3.connect(trained, timeout=0, isolation_level=None)) as trainer:
            trainer.execute("UPDATE control SET save = 1 - save")
            (row,) = trainer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        were_busy.append(row[0])
        return nats(self, model)

    monkeypatch.setattr(CompletionSet, "nats", nats_beside_a_trainer)
    cli.ok("compare", "default")
    assert were_busy == [0]


SIZES = ["--topics", "3,8", "--model", "lda", *SMALL]


def test_models_of_one_session_have_the_qualities_of_their_topics(cli, corpus):
    cli.ok("train", *corpus.options(), *SIZES, "--model", "scvb0", "--articles", 300)
    found = cli.json("compare")["models"]
    last = {(row["model"], row["metric"]): row["value"] for row in cli.rows("metrics")}
    words = {}
    for row in cli.rows("topics"):
        if row["in_use"] and row["rank"] <= 10:
            words.setdefault(row["model"], []).append(row["word"])
    for model in found:
        name = model["model"]
        assert model["npmi"] == pytest.approx(last[name, "npmi"], abs=1e-6)
        assert model["distinct"] == len(set(words[name])) / len(words[name])
        assert model["found"] is None
        assert (model["standard_error"] == 0) == (model["difference"] == 0)
    lines = cli("compare").out.splitlines()
    heads = ["model", "in", "use", "log", "likelihood", "difference", "error", "npmi", "distinct"]
    assert lines[1].split() == heads, "a column of which nothing is known is left out"
    assert {len(line) for line in lines[1:6]} == {len(lines[1])}
    best = found[0]["model"].partition("-")[0]
    other = {"lda": "scvb0", "scvb0": "lda"}[best]
    in_order = [f"{kind}-{topics}" for kind in (best, other) for topics in (3, 8)]
    assert [line.split()[0] for line in lines[2:6]] == in_order
    curve = lines[8:12]
    assert [line.split()[0] for line in curve] == in_order
    places = {line.split()[0]: line.index("o", len("scvb0-3")) for line in curve}
    ascending = [places[model["model"]] for model in reversed(found)]
    assert ascending == sorted(ascending)
    assert ascending[0] < ascending[-1]
    assert all(set(line.split()[1]) <= {"-", "o"} for line in curve)


def test_models_that_are_level_are_named(cli, corpus, home):
    cli.ok("train", *corpus.options(), *SMALL, "--topics", "5,6", "--articles", 128)
    result = cli.json("compare")
    behind = result["models"][1]
    is_level = -behind["difference"] < 2 * behind["standard_error"]
    told = f"less than twice the error behind the best: {behind['model']}"
    assert (told in cli("compare").out) == is_level
    shutil.copy(home / "default.db", home / "copy.db")
    table = cli("compare", "default", "copy").out
    assert "npmi" not in table, "each session counts it in documents of its own"
    assert result["models"][0]["model"] + " of copy" in table, "it is as good as itself"


def test_models_that_differ_in_nothing_have_a_curve(cli, corpus, monkeypatch):
    monkeypatch.setenv("COLUMNS", "5")
    cli.ok("train", *corpus.options(), *SMALL, "--topics", "5,6", "--articles", 1)

    def nats(self, model):
        """The models differ by rounding errors."""
        return -1.0 * self.hidden.counts - 1e-12 * model.n_topics

    monkeypatch.setattr(CompletionSet, "nats", nats)
    shown = cli.ok("compare").out
    assert "lda-5  o\nlda-6  o\n" in shown
    assert "-0.0000" not in shown
