"""`topics`, `topics rename`, `topics --tree` and `history`."""

import contextlib
import json
import sqlite3

import pytest


def names(cli, *options):
    return {topic["topic"]: topic["name"] for topic in json.loads(cli("topics", "--json", *options).out)}


def test_every_topic_has_a_name_of_its_words(cli, trained, corpus):
    found = names(cli)
    assert len(found) == 5
    assert len(set(found.values())) == 5
    for topic in json.loads(cli("topics", "--json", "--top", 20).out):
        words = {word["word"] for word in topic["words"]}
        # A name stays until two of its words have gone.
        assert len(set(found[topic["topic"]].split(", ")) & words) >= 2


def test_a_topic_is_renamed_everywhere_and_back(cli, trained, tmp_path):
    before = names(cli)
    outcome = cli("topics", "rename", 2, "  rivers \n and lakes ")
    assert outcome.code == 0
    assert "topic 2 of lda is now called rivers and lakes" in outcome.err
    assert names(cli) == before | {2: "rivers and lakes"}
    assert "rivers and lakes" in cli("topics", "--tree").out
    assert "rivers and lakes" in cli("export", "topics").out
    words = next(topic["words"] for topic in json.loads(cli("topics", "--json").out) if topic["topic"] == 2)
    (tmp_path / "text").write_text(" ".join(word["word"] for word in words))
    assert "   2  rivers and lakes: " in cli("infer", tmp_path / "text").out
    assert cli("topics", "rename", 2, "").code == 0
    assert names(cli) == before


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("2", "x" * 61), 2, "1 to 60 printable characters"),
        (("2", "a\x1b[31m"), 2, "printable"),
        (("5", "x"), 2, "topics 0 to 4"),
        (("2", "x", "--model", "hdp"), 2, "this session has lda"),
        (("2", "x", "--session", "none"), 1, "no session"),
    ],
)
def test_a_name_that_cannot_be_is_refused(cli, trained, one_line, words, code, part):
    before = names(cli)
    one_line(cli("topics", "rename", *words), code, part)
    assert names(cli) == before


def test_a_command_names_the_topics_without_a_given_name(cli, trained):
    before = names(cli)
    assert cli("topics", "rename", 2, "mine").code == 0
    asked = cli("topics", "name", "--command", r"""sed 's/.*"number": \([0-9]*\).*/topic \1/'; echo more""")
    assert asked.code == 0
    wanted = {topic: f"topic {topic}" for topic in before}
    assert names(cli) == wanted | {2: "mine"}
    assert "every topic in use has a given name" in cli("topics", "name", "--command", "false").err
    assert cli("topics", "name", "--replace", "--command", "sleep 9 & true").code == 0
    assert names(cli) == wanted | {2: "mine"}, "no line changes nothing"


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("exit 3", "failed with code 3"),
        ("printf '\\377\\n'", "no UTF-8 text"),
        ("printf 'a\\033b\\n'", "printable characters, not what --command printed for topic"),
        ("printf '%061d\\n' 0", "1 to 60"),
        ("head -c 9999 /dev/zero", "over 4,096 bytes"),
        ("sleep 60", "took over 0 s and was ended"),
    ],
)
def test_a_command_that_fails_changes_no_name(cli, trained, one_line, monkeypatch, command, part):
    before = names(cli)
    if command == "sleep 60":
        monkeypatch.setattr("wikitopics.session.control.naming.PATIENCE", 0.1)
    one_line(cli("topics", "name", "--command", command), 1, part)
    assert names(cli) == before


def test_a_given_name_stays_when_the_session_goes_on(cli, corpus, home):
    first = ["train", *corpus.options(), "--topics", 5, "--batch-size", 64, "--held-out", 40]
    assert cli(*first, "--articles", 128).code == 0
    assert cli("topics", "rename", 0, "x" * 60).code == 0
    assert cli(*first).code == 0
    assert names(cli)[0] == "x" * 60


def test_the_tree_has_every_topic_once(cli, trained):
    nodes = json.loads(cli("topics", "--tree", "--json").out)
    assert [node["node"] for node in nodes] == list(range(9))
    above = {node["node"]: node["parent"] for node in nodes}
    assert [node for node, parent in above.items() if parent is None] == [8]
    assert all(parent >= 5 for parent in above.values() if parent is not None)
    heights = [node["height"] for node in nodes]
    assert heights[:5] == [0] * 5
    assert heights[5:] == sorted(heights[5:])
    assert nodes[8]["share"] == pytest.approx(1, abs=1e-5)
    assert all(node["name"] for node in nodes)
    printed = cli("topics", "--tree").out.splitlines()
    topics = [line.split()[1] for line in printed if line[6:10] == " " * 4]
    assert sorted(topics) == list("01234")


def test_topics_that_repeat_others_are_counted(cli, trained, monkeypatch):
    monkeypatch.setattr("wikitopics.model.topics.repeats.NEAR", 1.0)
    assert "4 topics nearly repeat another: " in cli("topics").err
    monkeypatch.setattr("wikitopics.model.topics.repeats.NEAR", 0.0)
    assert "repeat" not in cli("topics").err


def test_history_tells_what_happened(cli, trained):
    with contextlib.closing(sqlite3.connect(trained)) as connection, connection:
        connection.execute("DELETE FROM topic_events")
        connection.execute("INSERT INTO topic_events VALUES (1, 0, 128, 'born', 3, NULL, 'sea, ship, port')")
        connection.execute("INSERT INTO topic_events VALUES (2, 0, 4096, 'merged', 3, 1, 'sea, ship, port')")
    assert cli("history").out.splitlines() == [
        "        128  #3 sea, ship, port is born",
        "      4,096  #3 sea, ship, port merged into #1",
    ]
    merged = {"model": "lda", "articles": 4096, "event": "merged", "topic": 3, "other": 1}
    assert json.loads(cli("history", "--json").out)[1] == {**merged, "name": "sea, ship, port"}
    assert cli("export", "events").out.splitlines()[:2] == [
        "model,articles,event,topic,other,name",
        'lda,128,born,3,,"sea, ship, port"',
    ]


def test_the_history_of_a_topic_is_its_words_at_every_doubling(cli, trained, one_line):
    every = json.loads(cli("history", 3, "--json").out)
    lines = cli("history", 3).out.splitlines()
    assert len({one["articles"].bit_length() for one in every}) <= len(lines) <= len(every)
    assert lines[0].split()[0] == "64"
    assert lines[-1].split()[2:] == [word["word"] for word in every[-1]["words"]]
    one_line(cli("history", 5), 2, "topics 0 to 4")
