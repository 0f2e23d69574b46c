"""`--passes` at the command line: what it takes, what it refuses, and what it tells."""

import json

import pytest

from tests.sessions import RELEASES
from wikitopics.model import kinds
from wikitopics.session.settings import default_topics
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.training.start import default_passes

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
    outcome = cli("train", *corpus.options(), *FEW, "--passes", 3)
    assert outcome.code == 0, outcome.err
    assert "in 3 passes" in outcome.err
    assert "pass 3 of 3" in outcome.err
    assert "has been read 3 times" in outcome.err
    now = json.loads(cli("status", "--json").out)
    assert (now["passes"], now["pass"], now["articles"]) == (3, 3, 3 * 657)
    assert list(now)[-2:] == ["passes", "pass"]
    assert "pass       3 of 3 over 657 documents" in cli("status").out
    last = json.loads(cli("train", "--json").out.splitlines()[-1])
    assert (last["passes"], last["pass"]) == (3, 3)


def test_passes_belong_to_the_session_and_a_limit_to_the_run(cli, corpus, one_line):
    train = ("train", *corpus.options(), *FEW)
    assert cli(*train, "--passes", 2, "--articles", 700).code == 0
    one_line(cli("train", "--passes", 3), 2, "--passes 3: this session was made with 2")
    one_line(cli("train", "--passes", 1), 2, "--passes 1: this session was made with 2")
    assert json.loads(cli("status", "--json").out)["articles"] == 700
    assert "fewer than --articles 9,999" in cli("train", "--passes", 2, "--articles", 9999).err
    assert json.loads(cli("status", "--json").out)["articles"] == 2 * 657


def test_another_session_can_train_on_the_counts_that_passes_keep(
    cli, corpus, home, states, assert_same_states
):
    one = ("--topics", 3, "--held-out", 40, "--batch-size", 64, "--documents", 657, "--passes", 2)
    assert cli("train", *corpus.options(), *one).code == 0
    assert cli("train", "--counts", home / "default.db", *one, "--session", "again").code == 0
    assert_same_states(states(home / "again.db"), states(home / "default.db"))


def test_texts_are_read_again(cli, tmp_path, home):
    lines = [
        json.dumps({"text": f"city river music {word} city"}) for word in ("band", "war", "law", "") * 40
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    outcome = cli("train", "--texts", tmp_path / "t.jsonl", "--topics", 3, "--passes", 4)
    assert outcome.code == 0, outcome.err
    with SessionReader(home / "default.db") as reader:
        now = reader.status()
    assert (now.documents, now.held_out, now.articles) == (144, 16, 4 * 144)


def test_a_dump_in_a_file_is_read_again(cli, tmp_path):
    (tmp_path / "words").write_text("aaa\naab\naac\naad\n")
    few = ("--vocab", tmp_path / "words", "--topics", 3, "--passes", 3)
    outcome = cli("train", "--dump", RELEASES / "wiki.xml.bz2", *few)
    assert outcome.code == 0, outcome.err
    now = json.loads(cli("status", "--json").out)
    documents, more = divmod(now["articles"], 3)
    assert (documents > 100, more) == (True, 0)
    assert documents + now["held_out"] + now["skipped"] == 600


@pytest.mark.parametrize(
    ("documents", "lda", "hdp", "passes"),
    [(1, 2, 3, 5), (60, 8, 23, 5), (4_000, 63, 190, 5), (4_001, 63, 190, 4), (12_000, 100, 300, 1)],
)
def test_the_defaults_by_size(documents, lda, hdp, passes):
    assert default_topics(kinds.load("lda"), documents) == lda
    assert default_topics(kinds.load("hdp"), documents) == hdp
    assert default_passes(documents) == passes


def test_a_kind_that_has_one_topic_keeps_it():
    assert default_topics(type("Single", (kinds.load("lda"),), {"default_topics": 1}), 60) == 1


def test_a_small_collection_has_its_own_defaults_and_they_stay(cli, corpus, home):
    files, models = corpus.options()[:-2], ("--model", "lda", "--model", "hdp:name=other")
    begun = cli("train", *files, *models, "--held-out", 40, "--articles", 100)
    assert begun.code == 0, begun.err
    assert (
        "with only 660 documents, the number of topics follows from their square root and they are read "
        "5 times; to choose otherwise, use --topics and --passes"
    ) in begun.err
    with SessionReader(home / "default.db") as reader:
        assert ([m.topics for m in reader.status().models], reader.status().passes) == ([26, 77], 5)
    assert cli("train", *files, *models, "--articles", 200).code == 0
    assert cli("train", *files, "--model", "lda", "--articles", 200).code == 2
    refused = cli("train", *files, "--model", "lda:topics=100", "--model", "hdp:name=other")
    assert (refused.code, "this session was made with" in refused.err) == (2, True)


def test_what_is_given_is_not_chosen(cli, corpus, home):
    told = cli("train", *corpus.options(), *FEW)
    assert (told.code, "with only" in told.err) == (0, False)
    with SessionReader(home / "default.db") as reader:
        assert reader.status().passes == 1
