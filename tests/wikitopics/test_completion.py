"""What a shell offers after a tab: names of sessions, models and topics, and kinds."""

import pytest
from click.shell_completion import ShellComplete

from wikitopics.cli import wikitopics
from wikitopics.session.paths import session_path


def offered(*words):
    """What is offered for the last of these words."""
    *before, begun = words
    return ShellComplete(wikitopics, {}, "wikitopics", "_WIKITOPICS_COMPLETE").get_completions(
        before, begun
    )


def values(*words):
    return [item.value for item in offered(*words)]


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        (["train", "--sou"], ("plain", "--source")),
        (["train", "--source", "re"], ("plain", "recent")),
        (["train", "--model", "h"], ("plain", "hdp")),
        (["train", "--dump", "enwiki"], ("file", "enwiki")),
        (["watch", "--session", "ni"], ("plain", "night")),
    ],
)
def test_options_values_files_and_sessions(home, begun, found):
    home.mkdir()
    for name in ("night.db", "demo.db", "night.db-wal"):
        (home / name).touch()
    assert [(item.type, item.value) for item in offered(*begun)] == [found]
    assert values("train", "--model", "") == ["lda", "scvb0", "hdp"]


def test_sessions_models_and_topics_with_their_names(trained):
    name = trained.stem
    assert name in values("status", "--session", "")
    models = values("topics", "--session", name, "--model", "")
    assert models
    topics = offered("history", "--session", name, "--model", models[0], "")
    assert topics
    assert all(topic.help and "," not in topic.help for topic in topics), (
        "fish cuts help at a comma"
    )
    one = topics[0].value
    assert one in values("articles", "--session", name, "--topic", one)
    assert one in values("topics", "rename", "--session", name, one)


def test_nothing_is_offered_and_nothing_is_said_where_a_session_cannot_be_read(capfd):
    assert values("history", "--session", "gone", "") == []
    path = session_path("broken")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"no session")
    assert values("topics", "--session", "broken", "--model", "") == []
    assert values("history", "--session", "broken", "--model", "nobody's", "") == []
    assert capfd.readouterr() == ("", "")
