"""The commands that look at a session: status, topics, articles, infer, sessions."""

import gzip
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.session.memory import status
from wikitopics.cli.sessions import _put_status
from wikitopics.session.storage.typical import typicality
from wikitopics.session.system import TrainerLock


def test_status_of_a_session_that_has_ended(cli, trained):
    value = cli.json("status")
    assert (value["session"], value["crawled"]) == (str(trained), 700)
    assert (value["articles"], value["held_out"], value["pending"], value["skipped"]) == (
        657,
        40,
        0,
        3,
    )
    assert (value["running"], value["pid"], value["state"]) == (False, None, "finished")
    assert value["elapsed_seconds"] > 0
    assert value["checkpoint_age_seconds"] >= 0
    assert value["skips"] == {"no known word": 3}
    assert "skipped    no known word 3\n" in cli("status").out


def test_status_of_several_passes_has_its_labels_in_one_column(trained, capsys):
    now = status(trained)
    first_step = replace(now.models[0], updates=1)
    _put_status(replace(now, passes=3, models=(first_step,)), trained)
    lines = capsys.readouterr().out.splitlines()[1:]
    assert "reads      657 trained, 40 held out, 0 pending, 3 skipped, 700 crawled" in lines
    assert all(line[10] == " " != line[11] for line in lines)
    assert " 1 update, perplexity " in lines[-1]


def test_status_before_anything_is_measured(cli, new_session, corpus, home):
    new_session(home / "default.db", corpus)
    value = cli.json("status")
    assert value["checkpoint_age_seconds"] is None
    assert value["models"][0]["perplexity"] is None
    assert value["models"][0]["log_likelihood"] is None
    assert value["articles_per_hour"] == 0.0
    assert cli("status").code == 0
    assert cli("topics").code == 0
    assert cli.json("topics") == []
    none = cli("articles", "--topic", "0")
    assert (none.code, none.out) == (0, "")
    assert "no stored document" in none.err
    columns = "share,name,npmi,parent,in_use,area,area_name,shown,titles,found"
    head = f"model,topic,rank,word,probability,{columns}\n"
    assert cli("export", "topics").out == head
    assert cli("export", "articles", "--format", "json").out == "[]\n"


def test_topics_come_by_share_with_as_many_words_as_are_wanted(cli, trained, corpus):
    value = cli.json("topics", "--top", 3)
    shares = [topic["share"] for topic in value]
    assert shares == sorted(shares, reverse=True)
    assert sorted(topic["topic"] for topic in value) == [0, 1, 2, 3, 4]
    assert all(len(topic["words"]) == 3 for topic in value)
    header, *lines = cli("topics").out.splitlines()
    assert header.split() == ["topic", "share", "trend", "npmi", "name", "words", "titles"]
    assert [int(line.split()[0]) for line in lines] == [topic["topic"] for topic in value]
    few = cli.json("topics", "--top", 20)
    many = cli.json("topics", "--top", 50)
    every = cli.json("topics", "--top", 1000)
    assert [topic["topic"] for topic in few] == [topic["topic"] for topic in many]
    for short, long, whole in zip(few, many, every, strict=True):
        assert short["words"] == long["words"][:20]
        assert long["words"] == whole["words"][:50]
        assert {one["word"] for one in whole["words"]} == set(corpus.words)
        assert abs(sum(one["probability"] for one in whole["words"]) - 1) < 1e-4
    name = len(many[0]["name"].split())
    titles = " · ".join(many[0]["titles"])
    line = cli("topics", "--top", 50).out.splitlines()[1].removesuffix(f"  {titles}")
    assert len(line.split()) == 4 + name + 50


def test_articles_of_a_topic_come_by_share_and_length(cli, trained, one_line):
    value = cli.json("articles", "--topic", 2, "--limit", 1_000_000)
    typical = [typicality(article["proportion"], article["words"]) for article in value]
    assert typical == sorted(typical, reverse=True)
    assert typical == [article["typicality"] for article in value]
    assert len(typical) > 20
    header, *lines = cli("articles", "--topic", 2).out.splitlines()
    assert header.split() == ["typical", "share", "words", "title"]
    assert len(lines) == 20
    for line, article in zip(lines, value, strict=False):
        assert line.split()[0] == f"{article['typicality']:.2f}"
        assert line.endswith(f"  [{' '.join(article['topic_words'])}]")
    (topic,) = (topic for topic in cli.json("topics") if topic["topic"] == 2)
    shown = topic["shown"]
    assert all(article["topic_words"] for article in value[:20])
    for article in value:
        assert article["topic_words"] == [word for word in shown if word in article["topic_words"]]
    assert {(article["url"], article["snippet"]) for article in value} == {(None, None)}
    one_line(cli("articles", "--topic", 5), 2, "topics 0 to 4")
    one_line(cli("articles", "--topic", 0, "--model", "hdp"), 2, "lda")


def test_infer_sums_to_one(cli, trained, tmp_path, corpus, one_line):
    text = tmp_path / "text"
    other = tmp_path / "other"
    text.write_text(" ".join(corpus.words[:12]) + " unknown")
    other.write_bytes(b"unknown \xff\xfe")
    value = cli.json("infer", text, other)
    assert [(one["words"], one["known"]) for one in value] == [(13, 12), (1, 0)]
    for one in value:
        assert abs(sum(one["proportions"]) - 1) < 1e-4
    one_line(cli("infer", tmp_path / "none"), 1, "no such file")
    one_line(cli("infer", tmp_path), 1, "give files in it")


def test_each_row_of_a_table_is_inferred(cli, trained, tmp_path, corpus, one_line):
    one, two, three = (" ".join(corpus.words[n : n + 10]) for n in (0, 10, 20))
    alone = tmp_path / "alone.txt"
    alone.write_text(two)
    (expected,) = cli.json("infer", alone)

    table = tmp_path / "reviews.csv"
    table.write_text(f'id,review\na,{one}\nb,"{two}"\nc,\na,{three} {two}\n')
    asked = ("infer", table, "--text-column", "review")
    outcome = cli.ok(*asked, "--json")
    rows = json.loads(outcome.out)
    assert [(row["row"], row["id"]) for row in rows] == [(1, "a"), (2, "b"), (4, "a")]
    assert {row["file"] for row in rows} == {str(table)}
    for key in ("words", "known", "proportions"):
        assert rows[1][key] == expected[key]
    assert f"{table}, line 4: no text; skipped" in outcome.err
    assert f"{table}, row 2 (b): 10 of 10 words known" in cli.ok(*asked).out

    lines = tmp_path / "reviews.jsonl.gz"
    with gzip.open(lines, "wt") as file:
        file.write(f'{{"key": 7, "text": "{one}"}}\n{{"text": "{two}"}}\n')
    rows = cli.json("infer", lines, "--id-column", "key")
    assert [(row["row"], row["id"]) for row in rows] == [(1, "7"), (2, "")]

    both = cli.json("infer", table, lines, "--text-column", "review")
    assert [row["file"] for row in both] == [str(table)] * 3 + [str(lines)] * 2
    outcome = cli("infer", lines, "--text-column", "review")
    assert outcome.code == 2
    assert "there is no key 'review'" in outcome.err

    bare = tmp_path / "bare.tsv"
    bare.write_text(f"1\t{one}\n2\t{two}\n")
    rows = cli.json("infer", bare, "--no-header", "--text-column", 2, "--id-column", 1)
    assert [(row["row"], row["id"]) for row in rows] == [(1, "1"), (2, "2")]
    assert rows[1]["proportions"] == expected["proportions"]

    odd = tmp_path / "odd.jsonl"
    odd.write_text("no JSON\n" * 12 + f'{{"text": "{one}"}}\n' + "no JSON\n")
    outcome = cli.ok("infer", odd)
    assert f"{odd}: 13 of 14 rows have no readable text" in outcome.err
    missing = tmp_path / "missing.csv"
    outcome = cli("infer", odd, missing)
    assert (outcome.code, outcome.out) == (2, ""), "all files are looked for first"
    assert f"{missing}: no such file" in outcome.err

    one_line(cli("infer", table), 2, "Name one with --text-column", "'id', 'review'")
    one_line(cli("infer", table, alone), 2, "give one kind at a time")
    one_line(cli("infer", alone, "--no-header"), 2, "are for .csv, .tsv, .jsonl and .parquet")
    unknown = tmp_path / "unknown.csv"
    unknown.write_text("text\nxyzzy\n")
    outcome = cli("infer", unknown)
    assert outcome.code == 1
    assert "these texts contain no word" in outcome.err


def test_a_session_where_no_name_belongs_is_told_where_it_does(cli, trained, one_line):
    for words in (("topics", "default"), ("export", "topics", "default"), ("default",)):
        one_line(cli(*words), 2, "(to name the session, use `--session default`; see `wikitopics ")
    for other in ("day", "a" * 300):
        one_line(cli("topics", other), 2, f"No such command '{other}'")


def test_sessions(cli, trained, home):
    (home / "broken.db").write_text("x")
    outcome = cli.ok("sessions")
    assert "default" in outcome.out
    assert "broken.db is not a wikitopics session" in outcome.out
    found = {one["name"]: one for one in cli.json("sessions")}
    assert found.keys() == {"default", "broken"}
    now = status(home / "default.db")
    assert found["default"]["committed_at"] == now.committed_at
    assert [model["topics"] for model in found["default"]["models"]] == [
        model.topics for model in now.models
    ]
    saved = time.strftime("%Y-%m-%d %H:%M", time.localtime(now.committed_at))
    models = ", ".join(f"{model.name} {model.topics}" for model in now.models)
    assert f"MB  {saved}  {models}  " in outcome.out
    assert "no session called 'other'" in cli("sessions", "--session", "other").err


def test_a_session_is_deleted_where_that_is_certain(cli, trained, home, one_line):
    one_line(cli("sessions", "rm", "default"), 2, "--yes")
    one_line(cli("sessions", "rm", "defualt", "--yes"), 1, "Did you mean 'default'?")
    with TrainerLock(trained):
        one_line(cli("sessions", "rm", "default", "--yes"), 4, f"pid {os.getpid()}")
    (home / "notes.db").write_text("mine")
    one_line(cli("sessions", "rm", "notes", "--yes"), 5, "not a wikitopics session")
    one_line(cli("sessions", "rm", "--yes"), 2, "name the session to delete")
    one_line(cli("sessions", "rm", "default", "--session", "notes", "--yes"), 2, "one session")
    assert cli("sessions", "rm", "--session", "default", "--yes").code == 0
    assert [path.name for path in home.iterdir()] == ["notes.db"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"xyzzy\n", "contains no word of the session's vocabulary"),
        (b"", "contains no word of the session's vocabulary"),
        (b"\x7fELF\x02\x01\0\0aaa aab", "a binary file, or not UTF-8 text"),
        ("aaa aab".encode("utf-16")[:-1] + b"\0\0\0", "a binary file, or not UTF-8 text"),
        ("слова на кириллице".encode("cp1251"), "a binary file, or not UTF-8 text"),
    ],
)
def test_what_cannot_be_inferred_is_told(
    cli,
    trained,
    tmp_path,
    monkeypatch,
    content,
    says,
    one_line,
):
    (tmp_path / "text").write_bytes(content)
    for options in ([], ["--json"]):
        one_line(cli("infer", tmp_path / "text", *options), 1, says)
        with (tmp_path / "text").open() as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            one_line(cli("infer", *options), 1, "standard input", says)


def test_one_text_without_a_known_word_has_no_topics(cli, trained, tmp_path):
    (tmp_path / "known").write_bytes("aaa aab aac é".encode("latin-1"))
    (tmp_path / "unknown").write_text("xyzzy")
    outcome = cli.ok("infer", tmp_path / "known", tmp_path / "unknown")
    assert "known: not UTF-8 in 1 places, where words are cut: save it as UTF-8" in outcome.err
    *_, before, last = outcome.out.splitlines()
    assert last.endswith("unknown: 0 of 1 words known")
    assert before.startswith("  ")


def test_a_pipe_is_a_text_and_a_device_is_none(cli, trained, tmp_path, one_line):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, "aaa aab aac")
        outcome = cli("infer", pipe)
    assert outcome.code == 0
    assert "3 words" in outcome.out
    one_line(cli("infer", "/dev/zero"), 1, "a device, not a regular file")


def test_a_text_without_end_is_cut_short(cli, trained, monkeypatch, one_line):
    monkeypatch.setattr("wikitopics.cli.texts._MOST", 1_000_000)
    with open("/dev/zero") as endless:
        monkeypatch.setattr("sys.stdin", endless)
        one_line(cli("infer"), 1, "standard input: more than 1,000,000 bytes")
