"""`train --lang CODE` without a vocabulary: one is built first, from the session's own first articles."""

import json

import pytest

from tests.wikitopics.polyglot import SUBJECTS, polyglot
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab.rules import Rule

SMALL = ["--topics", "3", "--batch-size", "64", "--seed", "1", "--alpha", "0.1"]


def words_of(language):
    """The words that its texts are made of, as its rule reads them, cut-off articles left out."""
    rule = Rule.of_language(language)
    return [
        {word.decode() for word in rule.words(subject) if len(word.decode()) > 1}
        for subject in SUBJECTS[language]
    ]


@pytest.mark.parametrize("language", SUBJECTS)
def test_topics_are_made_of_whole_words(cli, counted_here, home, language):
    with polyglot(language, 400) as url:
        outcome = cli("train", "--api-url", url, "--lang", language, "--vocab-articles", 250, *SMALL)
    assert outcome.code == 0, outcome.err
    assert "is built first, from the first 250 articles" in outcome.err
    subjects = words_of(language)
    topics = json.loads(cli("topics", "--json", "--top", "10").out)
    found = [[word["word"] for word in topic["words"]] for topic in topics]
    assert len(found) == 3
    assert {word for topic in found for word in topic} <= set().union(*subjects)
    of = [max(range(3), key=lambda s, t=topic: len(subjects[s].intersection(t))) for topic in found]
    assert len(set(of)) > 1, "topics of different subjects"
    # It is found again, by its name and by the next session.
    (kept,) = (home / "vocabularies").glob("*.txt")
    assert kept.read_text().splitlines()[0] == f"# rule {Rule.of_language(language)}"
    assert (
        cli("vocab", "show", kept.stem).out
        == kept.read_text()
        == cli("vocab", "show", "--session", "default").out
    )


def test_a_vocabulary_that_is_kept_is_not_built_again(cli, counted_here, home, one_line):
    asked = []
    with polyglot("de", 300, asked) as url:
        train = ["train", "--api-url", url, "--lang", "de", "--vocab-articles", 200, *SMALL]
        assert cli(*train).code == 0
        texts = [query["grncontinue"] for query in asked if "grncontinue" in query and "rvprop" in query]
        assert len(texts) == len(set(texts)) > 0, "nothing is fetched twice"
        outcome = cli(*train, "--session", "again")
        assert outcome.code == 0
        assert "is built first" not in outcome.err
        (kept,) = (home / "vocabularies").glob("*.txt")
        assert cli(*train, "--session", "third", "--vocab", kept.stem).code == 0
        compared = cli("compare", "default", "again", "third")
        assert (compared.code, compared.err) == (0, "")
        # As it always was: a vocabulary that is named is taken.
        assert cli(*train, "--session", "english", "--vocab", "english", "--held-out", "0").code == 0
        one_line(cli(*train, "--session", "again", "--vocab", "english"), 2, "--vocab english")
    with SessionReader(home / "default.db") as reader:
        status = reader.status()
        assert (status.articles, status.held_out, status.pending) == (270, 30, 0)
        assert status.crawled == 300


def test_too_small_a_wiki_is_told(cli, counted_here):
    with polyglot("fr", 2) as url:
        outcome = cli("train", "--api-url", url, "--lang", "fr")
    assert outcome.code == 2
    assert "too little text" in outcome.err.splitlines()[-1]
