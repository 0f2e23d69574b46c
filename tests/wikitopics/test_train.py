"""`train` at the command line: passes, replicas, defaults by size, and limits."""

import json

import pytest

from tests.session.memory import status
from tests.sessions import RELEASES
from wikitopics.model import kinds
from wikitopics.session.settings import default_topics, parse_specs
from wikitopics.session.training.defaults import (
    default_batch_sizes,
    default_passes,
    why_no_replicas,
)

FEW = ("--topics", 3, "--held-out", 40, "--batch-size", 64)


@pytest.mark.parametrize("number", ["0", "-1", "1e9", "1000000000", "2.5", "many"])
def test_a_number_of_passes_is_a_small_whole_one(cli, corpus, number, one_line):
    one_line(cli("train", *corpus.options(), *FEW, "--passes", number), 2, "from 1 to 10,000")


@pytest.mark.parametrize(
    "source",
    [
        ("--source", "api", "--contact", "me@host.org"),
        ("--source", "recent", "--contact", "me@host.org"),
        ("--dump", "-"),
        ("--dump", "http://127.0.0.1:9/dump.xml.bz2"),
    ],
)
def test_what_can_be_read_only_once_is_refused(cli, home, source, one_line):
    one_line(cli("train", *source, "--passes", 2), 2, "--passes 2")
    assert not (home / "default.db").exists()


def test_what_forgets_does_not_read_again(cli, corpus, one_line):
    train = ("train", *corpus.options(), *FEW, "--half-life", 500)
    one_line(cli(*train, "--passes", 2), 2, "half-life")
    assert cli(*train, "--passes", 1).code == 0


def test_progress_and_status_tell_the_pass(cli, corpus):
    outcome = cli.ok("train", *corpus.options(), *FEW, "--passes", 3)
    assert "in 3 passes" in outcome.err
    assert "pass 3 of 3" in outcome.err
    assert "has been read 3 times" in outcome.err
    now = cli.json("status")
    assert (now["passes"], now["pass"], now["articles"]) == (3, 3, 3 * 657)
    assert list(now)[-3:-1] == ["passes", "pass"]
    assert "pass       3 of 3 over 657 documents" in cli("status").out
    last = json.loads(cli("train", "--json").out.splitlines()[-1])
    assert (last["passes"], last["pass"]) == (3, 3)


def test_passes_belong_to_the_session_and_a_limit_to_the_run(cli, corpus, one_line):
    train = ("train", *corpus.options(), *FEW)
    assert cli(*train, "--passes", 2, "--articles", 700).code == 0
    one_line(cli("train", "--passes", 3), 2, "--passes 3: this session was made with 2")
    one_line(cli("train", "--passes", 1), 2, "--passes 1: this session was made with 2")
    assert cli.json("status")["articles"] == 700
    assert "fewer than --articles 9,999" in cli("train", "--passes", 2, "--articles", 9999).err
    assert cli.json("status")["articles"] == 2 * 657


def test_a_dump_in_a_file_is_read_again(cli, tmp_path):
    (tmp_path / "words").write_text("aaa\naab\naac\naad\n")
    few = ("--vocab", tmp_path / "words", "--topics", 3, "--passes", 3)
    cli.ok("train", "--dump", RELEASES / "wiki.xml.bz2", *few)
    now = cli.json("status")
    documents, more = divmod(now["articles"], 3)
    assert (documents > 100, more) == (True, 0)
    assert documents + now["held_out"] + now["skipped"] == 600


@pytest.mark.parametrize(
    ("documents", "lda", "hdp", "passes"),
    [
        (1, 2, 3, 5),
        (60, 8, 23, 5),
        (499, 22, 67, 5),
        (1_000, 32, 95, 10),
        (4_000, 63, 190, 10),
        (10_000, 100, 300, 5),
        (20_000, 100, 300, 2),
        (25_001, 100, 300, 1),
    ],
)
def test_the_defaults_by_size(documents, lda, hdp, passes):
    assert default_topics(kinds.load("lda"), documents) == lda
    assert default_topics(kinds.load("hdp"), documents) == hdp
    assert default_passes(documents) == passes


@pytest.mark.parametrize(
    ("asked", "replicas", "signs"),
    [
        ((), 0, False),
        (("--replicas", 2), 2, True),
    ],
)
def test_replicas_are_told_and_kept(cli, corpus, one_line, asked, replicas, signs):
    begun = cli.ok("train", *corpus.options(), *FEW, *asked)
    assert ("topics), with 2 replicas; " in begun.err) == signs
    now = cli.json("status")
    assert now["replicas"] == replicas
    assert ("replicas   2 beside each model" in cli.ok("status").out) == signs
    assert [model["name"] for model in now["models"]] == ["lda"]
    found = [topic["found"] for topic in cli.json("topics")]
    assert (None not in found) == signs
    listed = cli.ok("topics")
    assert ("Replicas" in listed.err) == signs
    one_line(cli("train", "--replicas", 3), 2, "--replicas 3: this session was made with")
    one_line(cli("train", "--replicas", 12), 2, "from 0 to 11")


def test_an_option_whose_help_tells_its_default_has_no_other_one(cli):
    told = " ".join(cli.ok("train", "--help").out.split())
    replicas = told.partition("--replicas R")[2].partition("--tokens")[0]
    assert replicas.count("default") == 1


def test_own_texts_have_replicas_unless_a_model_takes_long(cli, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"river lake dam {n % 7 * 'water '}" for n in range(60)))
    train = ("train", "--texts", texts, "--lines", "--vocab", tmp_path / "words.txt", "--topics", 3)
    (tmp_path / "words.txt").write_text("river\nlake\ndam\nwater\n")
    cli.ok(*train, "--session", "one", "--passes", 1)
    assert cli.json("status", "--session", "one")["replicas"] == 3
    cli.ok(*train, "--session", "again")
    assert cli.json("status", "--session", "again")["replicas"] == 3
    cli.ok(*train, "--session", "two", "--model", "lda", "--model", "hdp")
    assert cli.json("status", "--session", "two")["replicas"] == 0
    assert {row["found"] for row in cli.json("topics", "--session", "two")} == {None}


@pytest.mark.parametrize(
    ("models", "documents", "why"),
    [
        (("lda:topics=200", "lda:name=b,topics=400"), 5_000, "there are over 500 topics in all"),
        (("lda:topics=20",), 2_000_000, "there are over 1,000,000 documents"),
        (("lda:topics=500",), 5_000, ""),
        (("lda:topics=400", "hdp:topics=400"), 5_000, ""),
    ],
)
def test_why_there_are_no_replicas(models, documents, why):
    assert why_no_replicas(parse_specs(models, {}), documents) == why


def test_that_there_are_no_replicas_is_told_once(cli, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"river lake dam {n % 7 * 'water '}" for n in range(60)))
    (tmp_path / "words.txt").write_text("river\nlake\ndam\nwater\n")
    train = ("train", "--texts", texts, "--lines", "--vocab", tmp_path / "words.txt")
    many = ("--topics", "2,499", "--passes", 1)
    told = (
        "no replicas (they tell which topics come back), since there are over 500 topics in all; "
        "--replicas changes that\n"
    )
    assert told in cli.ok(*train, *many, "--articles", 20).err
    assert told not in cli.ok(*train, "--session", "default").err
    assert told not in cli.ok(*train, *many, "--session", "asked", "--replicas", 0).err
    assert told not in cli.ok(*train, "--session", "few", "--topics", 3).err


@pytest.mark.parametrize(
    ("documents", "lda", "hdp"),
    [
        (60, 1024, 2048),
        (500, 128, 256),
        (2_000, 128, 256),
        (4_000, 256, 512),
        (8_191, 512, 1024),
        (8_192, 1024, 2048),
    ],
)
def test_several_passes_have_small_minibatches(documents, lda, hdp):
    sizes = (1024, 2048)
    specs = parse_specs(["lda", "hdp:name=other"], {})
    assert default_batch_sizes(specs, sizes, documents) == (lda, hdp)


def test_a_batch_size_that_was_asked_for_stays():
    specs = parse_specs(["lda:batch_size=512", "hdp"], {})
    assert default_batch_sizes(specs, (512, 2048), 1_000) == (512, 256)
    specs = parse_specs(["lda:batch_size=4000", "hdp:batch_size=2000"], {})
    assert default_batch_sizes(specs, (4000, 2000), 1_000) == (4000, 2000)
    specs = parse_specs(["lda:batch_size=3000", "hdp:batch_size=1500", "scvb0"], {})
    assert default_batch_sizes(specs, (3000, 1500, 750), 1_000) == (3000, 1500, 750)


def test_a_kind_that_has_one_topic_keeps_it():
    assert default_topics(type("Single", (kinds.load("lda"),), {"default_topics": 1}), 60) == 1


def test_a_small_collection_has_its_own_defaults_and_they_stay(cli, corpus, home):
    files = corpus.options()[:-2]
    models = ("--model", "lda", "--model", "hdp:name=other")
    begun = cli.ok("train", *files, *models, "--held-out", 40, "--articles", 100)
    said = (
        "Small collection: 26 topics for lda and 77 topics for other (from the square root of its"
    )
    assert f"{said} documents), 10 passes; --topics and --passes change that" in begun.err
    now = status(home / "default.db")
    assert ([model.topics for model in now.models], now.passes) == ([26, 77], 10)
    assert cli("train", *files, *models, "--articles", 200).code == 0
    assert cli("train", *files, "--model", "lda", "--articles", 200).code == 2
    refused = cli("train", *files, "--model", "lda:topics=100", "--model", "hdp:name=other")
    assert (refused.code, "this session was made with" in refused.err) == (2, True)


def test_what_is_given_is_not_chosen(cli, corpus, home):
    told = cli("train", *corpus.options(), *FEW)
    assert (told.code, "Small collection" in told.err) == (0, False)
    assert status(home / "default.db").passes == 1


SMALL = ("--topics", 5, "--batch-size", 64, "--held-out", 40)


def test_a_file_that_has_moved_is_named_again(cli, trained, corpus, tmp_path):
    moved = tmp_path / "moved.npz"
    moved.write_bytes(corpus.counts.read_bytes())
    assert cli("train", "--counts", moved).code == 0


def test_a_session_knows_the_limits_of_its_last_run_only(cli, corpus, home):
    cli("train", *corpus.options(), *SMALL, "--articles", 100, "--threads", 2, "--hours", 5)
    assert status(home / "default.db").activity.given == {
        "articles": 100,
        "threads": 2,
        "hours": 5.0,
    }
    cli("train", "--articles", 300)
    assert status(home / "default.db").activity.given == {"articles": 300}


METRIC = "prequential_log_likelihood"


def test_what_comes_is_scored_before_it_is_trained(cli, corpus):
    train = ("train", *corpus.options(), *SMALL, "--seed", 3)
    assert cli(*train, "--half-life", 200, "--model", "lda").code == 0
    rows = cli.rows("metrics")
    scored = {row["articles"]: row["value"] for row in rows if row["metric"] == METRIC}
    assert scored.keys() == {row["articles"] for row in rows if row["metric"] == "log_likelihood"}
    (model,) = cli.json("status")["models"]
    assert model[METRIC] == scored[657]
    assert "on new articles, before training)" in cli("status").out
