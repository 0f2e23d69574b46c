"""`wikitopics.train`: vocabularies, the choice of words, and seeds."""

import numpy as np
import pytest

import wikitopics as wt
from tests.bars import Bar
from tests.wikitopics.in_python.learning import TEXTS, WORDS, assert_nothing_is_left, learn
from wikitopics.stored import progress_bars

pytestmark = pytest.mark.filterwarnings("ignore:short texts")


def test_a_vocabulary_without_a_rule_reads_what_the_session_reads(path):
    words = learn(
        vocabulary=wt.Vocabulary.from_words(["cooperate", "operate", *WORDS])
    ).vocabulary()
    assert words.split("co\u00adoperate \u202briver\u202c") == ["cooperate", "river"]


@pytest.mark.parametrize("words", [frozenset(WORDS), (word for word in WORDS)], ids=type)
def test_words_become_a_vocabulary_in_their_order_or_sorted_if_they_are_a_set(path, words):
    assert learn(vocabulary=words).vocabulary().words == tuple(WORDS)


def test_a_list_of_words_is_read_as_texts_of_the_language_are(path):
    words = learn(vocabulary=["don't", "5g", *WORDS], digits=True).vocabulary()
    assert words.split("Don’t 5G") == ["don't", "5g"]


def test_words_are_chosen_as_asked_and_are_part_of_the_session(path):
    choice = {
        "stop_words": np.array([WORDS[0], WORDS[12]]),
        "min_df": 2,
        "max_df": 1.0,
        "digits": True,
    }
    session = learn(**choice, phrases=True)
    assert set(session.vocabulary().words) == set(WORDS) - {WORDS[0], WORDS[12]}
    # The same call resumes the session; so does one that chooses no words.
    again = learn(**choice, phrases=True).status()
    without_choice = learn().status()
    assert again.documents == without_choice.documents
    # Most words are in fewer than 22 texts.
    for other in ({**choice, "stop_words": None}, {"min_df": 22}, {**choice, "digits": False}):
        with pytest.raises(wt.SessionError, match="counts other words"):
            learn(**other)


def test_seeded_topics_come_first_and_have_their_names(path):
    seeds = {"Waters": ["rivera", "riverb", "lake"], "Music": ["songc", "songd"]}
    with pytest.warns(UserWarning, match="seeds of 'Waters': the vocabulary has no lake"):
        session = learn(seeds=seeds)
    topics = {topic.number: topic for topic in session.topics()}
    assert (topics[0].name, topics[1].name) == ("Waters", "Music")
    assert all(word.startswith("river") for word in topics[0].words[:5])
    assert len(learn(seeds=seeds).topics()) == 3
    with pytest.raises(wt.SessionError, match=r"^seeds: this session was made with other seeds"):
        learn(seeds={"Waters": ["riverb"]})
    with pytest.raises(ValueError, match="none of the words of 'x': y"):
        learn(seeds={"x": ["y"]}, replace=True)
    with pytest.raises(ValueError, match="seeds: 2 topics are seeded, but scvb0 has only 1"):
        learn(seeds=seeds, topics=1, replace=True)
    assert len(learn().topics()) == 3, "nothing was deleted"
    assert_nothing_is_left(path)


def test_bars_show_how_many_texts_were_read_also_for_the_words(path, monkeypatch):
    bars = []

    def bar(**properties):
        bars.append(Bar(**properties))
        return bars[-1]

    monkeypatch.setattr("wikitopics.in_python.progress.tqdm_if_seen", lambda wanted: None)
    monkeypatch.setattr(progress_bars, "tqdm_if_seen", lambda wanted: bar if wanted else None)
    learn()
    of_texts, of_words = bars
    assert (of_texts.n, of_texts.total, of_texts.closed) == (len(TEXTS), None, True)
    assert (of_words.n, of_words.total, of_words.closed) == (len(TEXTS), len(TEXTS), True)
    learn(replace=True, progress=False)
    assert len(bars) == 2
