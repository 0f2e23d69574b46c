"""`train` with several numbers of topics: they learn side by side, and are compared at the end."""

import json

SMALL = ("--held-out", 40, "--batch-size", 64)
THREE = ("--topics", 3, *SMALL)
THREE_AND_FIVE = ("--topics", "3,5", *SMALL)


def test_several_numbers_of_topics_learn_side_by_side_and_are_compared_at_the_end(
    cli, corpus, tmp_path, states, home
):
    train = ("train", *corpus.options(), *THREE_AND_FIVE, "--documents", 657)
    log = tmp_path / "log"
    begun = cli.ok(*train, "--articles", 200, "--json", "--log", log)
    assert "training lda-3 (lda, 3 topics), lda-5 (lda, 5 topics)" in begun.err
    assert [json.loads(line) for line in begun.out.splitlines()], "nothing but JSON"
    ended = cli.ok(*train)
    assert ended.out == ""
    table = cli("compare").out
    assert len(table.splitlines()) >= 7
    assert ended.err.endswith("; everything is saved\n" + table)
    assert "40 documents that no model was trained on" in log.read_text()
    assert cli.ok("train").err.endswith(table), "a finished session tells it again"
    alone = ("train", *corpus.options(), *THREE, "--documents", 657, "--session", "alone")
    cli.ok(*alone, "--articles", 200)
    cli.ok(*alone)
    both = states(home / "default.db")
    assert both[0] == states(home / "alone.db")[0], "as if each were alone"
    assert both[0] != both[1]


def test_models_that_do_not_differ_in_their_topics_are_not_compared_at_the_end(cli, corpus):
    models = ("--model", "lda", "--model", "lda:name=other,alpha=0.3", "--model", "hdp:topics=9")
    told = cli.ok("train", *corpus.options(), *THREE, *models).err
    assert "no model was trained on" not in told
    assert "training lda (3 topics), other (lda, 3 topics), hdp (9 topics)" in told
    lines = [" ".join(line.split()) for line in cli("status").out.splitlines()]
    assert any(line.startswith("lda 3 topics (") for line in lines)
    assert any(line.startswith("other lda, 3 topics (") for line in lines)


def test_what_cannot_be_compared_is_saved_nevertheless(cli, corpus):
    ended = cli.ok("train", *corpus.options(), *THREE_AND_FIVE, "--held-out", 0)
    assert "the models are not compared: no held-out articles" in ended.err.splitlines()[-1]
    assert cli.json("status")["articles"] == 697
    away = ("--session", "away", "--on-end", 'mv "$WIKITOPICS_SESSION" "$WIKITOPICS_SESSION.moved"')
    ended = cli.ok("train", *corpus.options(), *THREE_AND_FIVE, *away)
    assert "the models are not compared: there is no session" in ended.err.splitlines()[-1]


def test_numbers_of_topics_that_make_no_sense_begin_nothing(cli, corpus, home, one_line):
    for numbers in ("3,,5", "3,x", "0,3", "3,3"):
        one_line(cli("train", *corpus.options(), "--topics", numbers), 2, "topics")
    one_line(
        cli("train", *corpus.options(), "--topics", "3,5", "--model", "lda:topics=4"),
        2,
        "every --model names its own number of topics",
    )
    assert not (home / "default.db").exists()
    cli.ok("train", *corpus.options(), *THREE_AND_FIVE, "--articles", 100)
    one_line(cli("train", "--topics", "3,5,8"), 2, "this session was made with 3,5")
    cli.ok("train", "--topics", "3,5", "--articles", 200)
