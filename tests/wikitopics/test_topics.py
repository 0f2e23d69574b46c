"""`topics`, `topics rename`, `topics hide`, `topics name`, `topics --tree` and `history`."""

import json
import os
import sys

import pytest

from tests.session.rows import sql
from wikitopics.session.signals import ENDING
from wikitopics.session.storage.database import MOST_ROWS
from wikitopics.session.storage.reader import SessionReader


def words_of(cli, *options):
    """The words of each topic by its number."""
    topics = cli.json("topics", *options)
    return {topic["topic"]: [word["word"] for word in topic["words"]] for topic in topics}


def names(cli, *options):
    return {topic["topic"]: topic["name"] for topic in cli.json("topics", *options)}


def test_every_topic_is_named_by_its_words_as_they_are_shown(cli, trained):
    found = names(cli)
    assert len(found) == len(set(found.values())) == 5
    shown = {topic["topic"]: topic["shown"] for topic in cli.json("topics")}
    for topic, name in found.items():
        assert name.split(", ") == shown[topic][:3]


@pytest.mark.parametrize("top", [6, 25])
def test_words_come_in_three_orders(cli, trained, top):
    probable = words_of(cli, "--top", top)
    relevant = words_of(cli, "--top", top, "--by", "relevance")
    header, *table = cli("topics", "--top", top).out.splitlines()
    of_words = slice(header.index("words"), header.index("titles"))
    shown = {int(line.split()[0]): line[of_words].split() for line in table}
    assert probable != relevant != shown != probable
    for topic in cli.json("topics"):
        n = min(top, 10)
        assert shown[topic["topic"]][:n] == topic["shown"][:n]
    for options, words in (("relevance", relevant), ("probability", probable)):
        table = cli("topics", "--top", top, "--by", options).out
        assert all(" ".join(first) in table for first in words.values())


def test_the_table_fits_its_terminal(cli, trained, monkeypatch):
    head, *piped = cli("topics").out.splitlines()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    widest = max(map(len, [head, *piped]))
    monkeypatch.setenv("COLUMNS", str(widest))
    assert cli("topics").out.splitlines() == [head, *piped]
    monkeypatch.setenv("COLUMNS", "60")
    first, titles, *lines = cli("topics").out.splitlines()
    indent = head.index("name")
    assert head.startswith(first.removesuffix("\u2026"))
    assert titles == " " * indent + "titles"
    assert len(lines) == 2 * len(piped)
    for whole, line, below in zip(piped, lines[::2], lines[1::2], strict=True):
        assert max(len(line), len(below)) <= 60
        assert whole.startswith(line.removesuffix("\u2026"))
        assert below.startswith(" " * indent)
        assert below.strip().removesuffix("\u2026") in whole


def test_a_topic_is_renamed_everywhere_and_back(cli, trained, tmp_path):
    before = names(cli)
    outcome = cli.ok("topics", "rename", 2, "  rivers \n and lakes ")
    assert "topic 2 of lda is now called rivers and lakes" in outcome.err
    assert names(cli) == before | {2: "rivers and lakes"}
    assert "rivers and lakes" in cli("topics", "--tree").out
    assert "rivers and lakes" in cli("export", "topics").out
    (tmp_path / "text.txt").write_text(" ".join(words_of(cli)[2]))
    inferred = cli("infer", tmp_path / "text.txt")
    assert "   2  rivers and lakes: " in inferred.out
    assert cli("topics", "rename", 2, "").code == 0
    assert names(cli) == before


def test_hidden_topics_are_left_out_of_lists_and_nothing_else(cli, trained):
    def numbers(*options):
        return {int(line.split()[0]) for line in cli("topics", *options).out.splitlines()[1:]}

    tree = cli("topics", "--tree").out
    exported = cli("export", "topics").out
    before = cli.json("topics")
    assert "topics 4, 2 of lda: hidden from lists" in cli.ok("topics", "hide", 4, 2).err
    assert numbers() == {0, 1, 3}
    assert "2 of 5 topics are hidden; --all shows them" in cli("topics").err
    assert numbers("--all") == set(range(5))
    assert cli("topics", "--all").out.count(" (hidden) ") == 2
    assert len(cli("topics", "--tree").out.splitlines()) <= len(tree.splitlines()) - 2
    assert cli("topics", "--tree", "--all").out == tree
    assert cli.json("topics") == [{**one, "hidden": one["topic"] in (2, 4)} for one in before]
    assert cli("export", "topics").out == exported
    assert cli("topics", "hide", 0, 1, 3).code == cli("topics", "--areas").code == 0
    assert cli("topics", "unhide", *range(5)).code == 0
    assert cli("topics", "--tree").out == tree
    assert cli.json("topics") == before


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


NUMBERED = r"""sed 's/.*"number": \([0-9]*\).*/topic \1/'; echo more"""


def test_a_command_names_the_topics_without_a_given_name(cli, trained):
    before = names(cli)
    assert cli("topics", "rename", 2, "mine").code == 0
    asked = cli.ok("topics", "name", "--command", NUMBERED)
    assert asked.out == ""
    wanted = {topic: f"topic {topic}" for topic in before}
    assert names(cli) == wanted | {2: "mine"}
    for topic in set(before) - {2}:
        assert (
            f" of 4: topic {topic} of lda ({before[topic]}) is now called topic {topic}\n"
            in asked.err
        )
    assert "every listed topic has a given name" in cli("topics", "name", "--command", "false").err
    kept = cli.ok("topics", "name", "--replace", "--command", "sleep 2 & true")
    assert "topic 2 of lda (mine) keeps its name" in kept.err
    assert names(cli) == wanted | {2: "mine"}, "no line changes nothing"
    assert cli("topics", "name", "--replace", "--command", NUMBERED).code == 0
    assert names(cli) == wanted


def test_a_command_names_hidden_topics_only_if_asked(cli, trained):
    before = names(cli)
    cli.ok("topics", "hide", 1, 3)
    cli.ok("topics", "name", "--command", NUMBERED)
    assert names(cli) == {topic: f"topic {topic}" for topic in before} | {
        topic: before[topic] for topic in (1, 3)
    }
    cli.ok("topics", "name", "--all", "--command", NUMBERED)
    assert names(cli) == {topic: f"topic {topic}" for topic in before}


def test_a_command_is_told_of_the_topic_and_the_session(cli, trained, tmp_path):
    told = tmp_path / "told"
    cli.ok("topics", "name", "--command", f"cat >> {told}; echo $WIKITOPICS_SESSION >> {told}")
    lines = told.read_text(encoding="utf-8").splitlines()
    assert set(lines[1::2]) == {str(trained)}
    for question, topic in zip(
        map(json.loads, lines[::2]), cli.json("topics", "--top", 20), strict=True
    ):
        assert question["number"] == topic["topic"]
        assert question["words"] == [word["word"] for word in topic["words"]]
        about = cli.json("articles", "--topic", topic["topic"], "--limit", 10)
        assert question["titles"] == [article["title"] for article in about]


def test_a_command_names_the_topics_of_one_model_and_unused_ones_if_asked(cli, corpus):
    models = ("--model", "lda:topics=2", "--model", "hdp:topics=200")
    small = ("--batch-size", 64, "--held-out", 40, "--articles", 256)
    assert cli("train", *corpus.options(), *small, *models).code == 0
    lda = names(cli)
    hdp = names(cli, "--model", "hdp")
    used = {t["topic"] for t in cli.json("topics", "--model", "hdp") if t["in_use"]}
    assert used < set(hdp)
    assert cli("topics", "name", "--model", "hdp", "--command", "echo Named").code == 0
    assert names(cli, "--model", "hdp") == hdp | dict.fromkeys(used, "Named")
    assert cli("topics", "name", "--model", "hdp", "--all", "--command", "echo Unused").code == 0
    assert names(cli, "--model", "hdp") == dict.fromkeys(hdp, "Unused") | dict.fromkeys(
        used, "Named"
    )
    assert names(cli) == lda


def test_a_name_given_by_hand_meanwhile_stays(cli, trained):
    first, second, *_ = [topic["topic"] for topic in cli.json("topics")]
    by_hand = f"{sys.executable} -m wikitopics topics rename {second} mine 2> /dev/null"
    once = f"""grep -q '"number": {first},' && {by_hand}; echo theirs"""
    cli.ok("topics", "name", "--command", once)
    assert (names(cli)[first], names(cli)[second]) == ("theirs", "mine")


def test_a_command_that_fails_later_leaves_the_names_so_far(cli, trained):
    before = names(cli)
    first, second, *_ = [topic["topic"] for topic in cli.json("topics")]
    outcome = cli("topics", "name", "--command", f"""grep -q '"number": {first},' && echo Named""")
    assert outcome.code == 1
    assert outcome.err.endswith(
        f"wikitopics: topic {second} has no new name: --command failed with code 1\n"
    )
    assert names(cli) == before | {first: "Named"}


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("exit 3", "failed with code 3"),
        ("exec >&-; exit 3", "failed with code 3"),
        ("printf '\\377\\n'", "text that is not UTF-8"),
        (
            "printf 'a\\033b\\n'",
            "printed 'a\\x1bb', but a topic's name must have 1 to 60 printable",
        ),
        ("printf '%061d\\n' 0", "1 to 60"),
        ("head -c 9999999 /dev/zero", "1 to 60 printable"),
        ("sleep 60", "took over 0 s and was killed"),
        ("yes", "took over 0 s and was killed"),
    ],
)
def test_a_command_that_fails_changes_no_name(cli, trained, one_line, monkeypatch, command, part):
    before = names(cli)
    first = cli.json("topics")[0]["topic"]
    if "took" in part:
        monkeypatch.setattr("wikitopics.session.given_names.PATIENCE", 0.0)
    outcome = cli("topics", "name", "--command", command)
    one_line(outcome, 1, f"topic {first} has no new name: --command", part)
    assert names(cli) == before


@pytest.mark.parametrize("number", ENDING)
def test_whatever_ends_it_ends_its_command(spawn, trained, tmp_path, number):
    """Nobody holds the pipe any more once the whole group is gone."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    naming = spawn(
        "topics",
        "name",
        "--command",
        f"exec 3> {fifo}; echo begun >&3; sleep 600 & sleep 600",
    )
    with open(fifo, encoding="utf-8") as said:
        assert said.readline() == "begun\n"
        naming.send_signal(number)
        assert said.read() == ""
    naming.communicate()
    assert naming.returncode == 130


def test_a_topic_cannot_be_named_before_there_are_topics(cli, path):
    assert "no topics yet" in cli("topics", "name", "--session", path, "--command", "false").err


def test_the_tree_has_every_topic_once_and_repeats_are_counted(cli, trained, monkeypatch):
    nodes = cli.json("topics", "--tree")
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
    monkeypatch.setattr("wikitopics.model.distances.NEAR", 1.0)
    assert "4 topics nearly repeat another: " in cli("topics").err
    monkeypatch.setattr("wikitopics.model.distances.NEAR", 0.0)
    assert "repeat" not in cli("topics").err


def test_history_tells_what_happened_and_a_topics_words_at_every_doubling(cli, trained, one_line):
    sql(trained, "DELETE FROM topic_events")
    sql(trained, "INSERT INTO topic_events VALUES (1, 0, 128, 'born', 3, NULL, 'sea, ship, port')")
    sql(trained, "INSERT INTO topic_events VALUES (2, 0, 4096, 'merged', 3, 1, 'sea, ship, port')")
    assert cli("history").out.splitlines() == [
        "        128  #3 sea, ship, port is born",
        "      4,096  #3 sea, ship, port merged into #1",
    ]
    merged = {"model": "lda", "articles": 4096, "event": "merged", "topic": 3, "other": 1}
    assert cli.json("history")[1] == {**merged, "name": "sea, ship, port"}
    rows = ["model,articles,event,topic,other,name", 'lda,128,born,3,,"sea, ship, port"']
    assert cli("export", "events").out.splitlines()[:2] == rows
    every = cli.json("history", 3)
    lines = cli("history", 3).out.splitlines()
    assert len({one["articles"].bit_length() for one in every}) <= len(lines) <= len(every)
    assert lines[0].split()[0] == "64"
    shown = {topic["topic"]: topic["shown"] for topic in cli.json("topics")}
    assert lines[-1].split()[2:] == shown[3]
    words = {topic["topic"]: topic["words"] for topic in cli.json("topics")}
    assert every[-1]["words"] == words[3]
    one_line(cli("history", 5), 2, "topics 0 to 4")


def test_topics_that_forget_may_have_more_events_than_are_usually_read(trained):
    sql(
        trained,
        "INSERT INTO topic_events (model, articles, event, topic, name) WITH RECURSIVE n(i) AS "
        "(SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 0, i, 'died', 3, 'sea' FROM n",
        MOST_ROWS,
    )
    with SessionReader(trained) as reader:
        assert len(reader.topic_events()) > MOST_ROWS
