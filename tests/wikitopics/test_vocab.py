"""`vocab show` and `vocab build --why`, and a session's vocabulary in Python."""

import json

import pytest

import wikitopics as wt

WORDS = "# rule 2 en\nangeles\nlos angeles\nriver\n"


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(WORDS)
    return path


def test_a_vocabulary_is_printed_as_its_file_and_its_size_is_told(cli, words):
    shown = cli.ok("vocab", "show", words)
    assert shown.out == WORDS
    assert shown.err.startswith("3 words (1 phrase) by rule 2 en, fingerprint ")


def test_why_takes_the_place_of_the_list(cli, words):
    shown = cli.ok("vocab", "show", words, "--why", "Rivers", "--why", "los angeles")
    assert shown.err == ""
    why_not, why = shown.out.splitlines()
    assert why_not.startswith("'Rivers' is read as 'rivers', which is not in the vocabulary: it ")
    assert why == "'los angeles' is in the vocabulary."
    harmless = cli.ok("vocab", "show", words, "--why", "\x1b[31mriver").out
    assert "\x1b" not in harmless


def test_the_same_as_json(cli, words):
    value = cli.json("vocab", "show", words)
    assert {key: value[key] for key in ("words", "phrases", "rule", "documents")} == {
        "words": 3,
        "phrases": 1,
        "rule": "2 en",
        "documents": None,
    }
    assert value["entries"][1] == {"word": "los angeles", "documents": None}
    [river, the] = cli.json("vocab", "show", words, "--why", "River", "--why", "the")
    assert (river["word"], river["in"], river["documents"]) == ("River", True, None)
    assert (the["in"], "is a stop word" in the["why"]) == (False, True)


def test_a_session_knows_how_many_documents_have_a_word(cli, trained):
    articles = {row["word"]: row["articles"] for row in cli.rows("words")}
    documents = cli.json("status")["articles"]
    value = cli.json("vocab", "show", "--session", "default")
    assert value["documents"] == documents
    assert {entry["word"]: entry["documents"] for entry in value["entries"]} == articles
    vocabulary = wt.open().vocabulary()
    assert vocabulary.document_frequencies == articles
    most = max(articles.values())
    first = next(iter(vocabulary.document_frequencies))
    assert articles[first] == most
    assert f": {first}, " in repr(vocabulary)
    shown = cli.ok("vocab", "show", "--session", "default", "--why", first)
    assert shown.out == f"'{first}' is in the vocabulary: in {most:,} of {documents:,} documents.\n"


def test_a_session_without_a_trained_document_knows_no_number(new_session, corpus, home):
    new_session(home / "default.db", corpus)
    vocabulary = wt.open().vocabulary()
    assert vocabulary.document_frequencies == {}
    assert vocabulary.why(vocabulary.words[0]).endswith("is in the vocabulary.")


def test_building_says_why_words_are_in_or_not(cli, tmp_path):
    texts = ["a river and a lake", "the river", "a lake", "a pond", *["fields"] * 6]
    lines = [json.dumps({"text": text}) for text in texts]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(lines))
    out = tmp_path / "built.txt"
    asked = ("--why", "Lake", "--why", "pond", "--why", "fields")
    built = cli.ok("vocab", "build", path, "-o", out, *asked)
    assert built.out.splitlines() == [
        "'Lake' is read as 'lake', which is in the vocabulary: in 2 of 10 documents.",
        "'pond' is not in the vocabulary: it occurs in 1 of 10 documents; words in fewer than 2 "
        "are left out.",
        "'fields' is not in the vocabulary: it occurs in 6 of 10 documents; words in more than 2 "
        "are left out.",
    ]
    assert out.read_text() == "# rule 2 en\nlake\nriver\n"
