"""`train --lang CODE` without a vocabulary: one is built first, from the session's own first articles."""

import contextlib
import json
import signal

import pytest

from tests.waiting import until
from tests.wikitopics.polyglot import SUBJECTS, polyglot
from wikitopics.session.errors import NoSession
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


def building(path, number):
    """Whether the session has read so many articles to build its vocabulary from."""
    with contextlib.suppress(NoSession), SessionReader(path) as reader:
        return reader.settings().building and reader.status().pending >= number


@pytest.mark.long
def test_killed_while_it_builds_it_comes_to_the_same(
    cli, counted_here, spawn, home, states, assert_same_states, one_line
):
    # So many that it is far from enough of them when it is killed, however late that is.
    with polyglot("uk", 2000) as url:
        train = ["train", "--api-url", url, "--lang", "uk", "--vocab-articles", 1500, *SMALL]
        assert cli(*train, "--session", "whole").code == 0
        next((home / "vocabularies").glob("*.txt")).unlink()
    with polyglot("uk", 2000, latency=0.25) as url:
        train[2] = url
        path = home / "killed.db"
        for number, how in ((50, signal.SIGKILL), (150, signal.SIGTERM)):
            trainer = spawn(*train, "--session", "killed")
            until(lambda: building(path, number) or trainer.poll() is not None, 240)  # noqa: B023
            trainer.send_signal(how)
            trainer.communicate(timeout=60)
        status = json.loads(cli("status", "--json", "--session", "killed").out)
        assert (status["articles"], status["held_out"]) == (0, 0)
        assert status["crawled"] == status["pending"] >= 150
        one_line(cli("infer", __file__, "--session", "killed"), 1, "still building its vocabulary")
        one_line(cli("export", "words", "--session", "killed"), 1, "still building its vocabulary")
        assert "no topics yet" in cli("topics", "--session", "killed").err
        one_line(cli(*train, "--session", "killed", "--vocab", "english"), 2, "leave --vocab out")
        one_line(cli(*train[:6], 500, "--session", "killed"), 2, "--vocab-articles")
        outcome = cli("train", "--session", "killed")
        assert outcome.code == 0, outcome.err
        assert "articles are counted" in outcome.err
    assert_same_states(states(home / "whole.db"), states(path))
    with SessionReader(path) as one, SessionReader(home / "whole.db") as other:
        assert one.counter() == other.counter()
        assert [page for _, pages, *_ in one.all_articles(trained_only=False) for page in pages] == [
            page for _, pages, *_ in other.all_articles(trained_only=False) for page in pages
        ]


def test_too_small_a_wiki_is_told(cli, counted_here, home, one_line):
    with polyglot("fr", 2) as url:
        outcome = cli("train", "--api-url", url, "--lang", "fr")
    assert outcome.code == 2
    assert "too little text" in outcome.err.splitlines()[-1]
