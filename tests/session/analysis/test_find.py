"""The topics and the documents that words find."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

import wikitopics as wt
from tests.session.rows import alter
from wikitopics.session.analysis import text_words
from wikitopics.session.analysis.find import found_once
from wikitopics.session.analysis.similar import Recorded
from wikitopics.session.analysis.text_words import ReadTexts, TextIndex, TextWords
from wikitopics.session.errors import Damaged
from wikitopics.session.storage import articles, counts
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab.rules import Rule

SUBJECTS = {
    "sea": "ship harbour sailor captain anchor voyage",
    "kitchen": "recipe flour butter oven sugar dough",
    "garden": "flower seed spade compost hedge lawn",
}
EVERYWHERE = "common"
N = 240


@pytest.fixture
def session_once(made_once, trainers_run_here):
    """Texts of three subjects: every text has one word that all share, and one in ten names a city
    in two words, which are a phrase of the vocabulary."""

    def train(folder):
        random = np.random.default_rng(3)
        subjects = list(SUBJECTS)
        texts = []
        titles = []
        for number in range(N):
            subject = subjects[number % len(subjects)]
            words = random.choice(SUBJECTS[subject].split(), 20).tolist()
            if number % 10 == 0:
                words += ["new york"] * 3
            texts.append(" ".join([f"Überfahrt{number}x {EVERYWHERE}", *words]))
            titles.append(f"{subject.title()} no. {number} <b>")
        titles[0] = "The Old Ship of York"
        titles[3] = "ship"
        titles[6] = "Shipwrecks"
        vocabulary = [*" ".join(SUBJECTS.values()).split(), EVERYWHERE, "new", "york", "new york"]
        wt.train(
            texts,
            titles=titles,
            vocabulary=vocabulary,
            session=folder / "s.db",
            topics=3,
            passes=10,
            progress=False,
        )

    return made_once("find", train) / "s.db"


@pytest.fixture
def session(session_once, tmp_path):
    return wt.open(shutil.copy(session_once, tmp_path / "s.db"))


def test_topics_are_those_in_which_the_words_are_more_probable_than_on_average(session):
    leading = {topic.number: set(topic.words[:6]) for topic in session.topics()}
    found = session.find("Ship harbour")
    first, *others = found.topics
    assert {"ship", "harbour"} <= leading[first.number]
    assert set(first.words) == {"ship", "harbour"}
    assert first.times > 1.5
    assert all(topic.times <= first.times for topic in others)
    # A sentence: the topic of most of its words comes first, and each is told with its own.
    of_both = session.find("a ship at anchor with flour").topics
    assert set(of_both[0].words) == {"ship", "anchor"}


def test_a_word_that_no_topic_tells_apart_speaks_for_none(session):
    assert session.find(EVERYWHERE).topics == []
    with_others = session.find(f"{EVERYWHERE} oven").topics
    alone = session.find("oven").topics
    assert [topic.number for topic in with_others] == [topic.number for topic in alone]
    assert with_others[0].words == ("oven",)
    assert with_others[0].times == pytest.approx(alone[0].times)


def test_forms_and_beginnings_of_words_stand_for_those_of_the_vocabulary(session):
    assert session.find("ships").topics[0].words == ("ships",)
    assert session.find("harb").topics[0].number == session.find("harbour").topics[0].number


def test_a_given_name_counts_as_a_word_that_no_other_topic_has(session):
    from wikitopics.session.given_names import hide_topics, rename

    number = session.find("spade").topics[0].number
    assert session.find("allotments").topics == []
    rename(session.path, "lda", number, "Allotments and parks")
    (topic,) = session.find("allotments").topics
    assert (topic.number, topic.name, topic.words) == (
        number,
        "Allotments and parks",
        ("allotments",),
    )
    hide_topics(session.path, "lda", [number], hidden=True)
    assert session.find("allotments").topics == []


def test_documents_with_all_the_words_in_their_title_come_first(session):
    titles = [document.title for document in session.find("ship", 5).documents]
    assert titles[:2] == ["ship", "The Old Ship of York"], "the whole title, then the whole word"
    exact, *_ = session.find("old ship", 5).documents
    assert exact.title == "The Old Ship of York"
    # A part of a title is found, too.
    assert "Shipwrecks" in [document.title for document in session.find("shipwr", 3).documents]
    first, *_ = session.find("no. 77 <b>").documents
    assert first.title == "Garden no. 77 <b>"


def test_a_word_in_the_title_counts_more_than_one_in_the_text(session):
    def score():
        found = wt.open(session.path).find("ship flour anchor", N).documents
        return next(one.score for one in found if one.page_id == 1)

    with_title = score()
    alter(session, "UPDATE articles SET title = 'Nothing' WHERE page_id = 1")
    assert score() < with_title


def test_documents_are_ranked_by_rare_words_before_frequent_ones(session):
    found = session.find(f"{EVERYWHERE} new york", 30).documents
    of_city = [one for one in found if "new york" in one.words]
    assert len(of_city) == N // 10
    assert {one.title for one in found[: N // 10]} == {one.title for one in of_city}
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_words_beyond_the_vocabulary_are_found_in_snippets(session):
    first, *_ = session.find("überfahrt77X", 3).documents
    assert first.page_id == 78
    assert first.words == ("überfahrt77x",)
    assert first.snippet.startswith("Überfahrt77x")
    alter(session, "DELETE FROM snippets")
    assert wt.open(session.path).find("überfahrt77X").documents == []


@pytest.mark.parametrize("lacking", ["counts", "proportions", "both"])
def test_what_is_not_kept_is_not_needed(session, lacking):
    if lacking in ("counts", "both"):
        alter(session, "DELETE FROM kept_counts")
    if lacking in ("proportions", "both"):
        alter(session, "DELETE FROM places", "DELETE FROM proportions", "DELETE FROM blocks")
    session = wt.open(session.path)
    assert session.find("anchor").topics[0].words == ("anchor",)
    found = session.find("anchor captain", 5).documents
    assert all({"anchor", "captain"} == set(one.words) for one in found)
    assert session.find("ship", 1).documents[0].title == "ship"


def test_too_many_word_counts_are_not_held(session, monkeypatch):
    monkeypatch.setattr(counts, "MOST_COMPARED", 100)
    assert all("oven" in one.words for one in session.find("oven", 5).documents)


def test_titles_are_found_before_there_is_a_topic(path):
    found = wt.open(path).find("x")
    assert (found.topics, found.documents) == ([], [])


def test_nothing_found_suggests_what_was_meant(session):
    found = session.find("harbuor")
    assert (found.topics, found.documents) == ([], [])
    assert "did you mean 'harbour'?" in found.suggestion
    assert found.suggestion in repr(found)
    assert session.find("qqqqqqqq").suggestion == ""
    assert session.find("  ").documents == []


def test_found_is_read_again_only_after_a_change(session, monkeypatch):
    before = session.find("ship")
    texts = session._finder.index.texts
    assert session.find("ship").documents == before.documents
    assert session._finder.index.texts is texts
    alter(session, "UPDATE progress SET committed_at = committed_at + 1")
    assert session.find("ship").documents == before.documents
    assert session._finder.index.texts is texts, "titles and snippets stay as they are"


def test_new_articles_are_added_to_those_that_were_read(session):
    with SessionReader(session.path) as reader:
        whole = TextIndex(TextWords(reader.counter().rule)).read(reader)
        alter(
            session,
            "CREATE TABLE later AS SELECT * FROM articles WHERE seq > 200",
            "DELETE FROM articles WHERE seq > 200",
        )
        index = TextIndex(TextWords(reader.counter().rule))
        before = index.read(reader)
        assert len(before) == 200
        alter(session, "INSERT INTO articles SELECT * FROM later")
        texts = index.read(reader)
        assert len(texts) == N
        assert len(before) == 200, "another thread may be looking at it"
        for word in ("ship", "garden", "york"):
            keys = TextWords(Rule(2)).keys(word)
            for one, other in zip(texts.with_words(keys), whole.with_words(keys), strict=True):
                np.testing.assert_array_equal(one, other)
            assert texts.titled(word) == whole.titled(word)


def test_an_answer_stays_with_the_texts_it_began_with(session, monkeypatch):
    expected = session.find("ship").documents
    with_words = ReadTexts.with_words

    def while_another_thread_reads_on(texts, keys):
        session._finder.index.texts = replace(
            texts,
            seqs=np.append(texts.seqs, N + 1),
            page_ids=np.append(texts.page_ids, N + 1),
            lengths=np.append(texts.lengths, 10),
        )
        return with_words(texts, keys)

    monkeypatch.setattr(ReadTexts, "with_words", while_another_thread_reads_on)
    assert session.find("ship").documents == expected
    assert len(session._finder.index.texts) == N + 1


def test_texts_say_where_words_follow_each_other(session):
    with SessionReader(session.path) as reader:
        texts = TextIndex(TextWords(reader.counter().rule)).read(reader)
    rows, times, in_title = texts.with_words(TextWords(Rule(2)).keys("New York"))
    assert sorted(texts.page_ids[rows].tolist()) == list(range(1, N, 10))
    assert set(times.tolist()) == {3}
    assert not len(in_title)
    _, _, in_title = texts.with_words(TextWords(Rule(2)).keys("ship of york"))
    assert texts.page_ids[in_title].tolist() == [1]
    # No phrase goes from one article to the next.
    rows, *_ = texts.with_words(TextWords(Rule(2)).keys("zzz"))
    assert not len(rows)


def test_titles_alone_are_searched_beyond_the_most_words(session, monkeypatch):
    monkeypatch.setattr(text_words, "MOST_HELD", 10)
    found = session.find("no. 77 <b>", 1).documents
    assert [one.title for one in found] == ["Garden no. 77 <b>"]
    assert session._finder.index.texts.n_searched == 0


def test_no_words_behind_those_that_are_not_held_are_not_taken_for_searched(session, monkeypatch):
    monkeypatch.setattr(text_words, "MOST_HELD", 10)
    monkeypatch.setattr(articles, "_AT_ONCE", 200)
    alter(session, "UPDATE articles SET title = '-' WHERE seq > 200", "DELETE FROM snippets")
    with SessionReader(session.path) as reader:
        texts = TextIndex(TextWords(Rule(2))).read(reader)
    assert len(texts) == N
    assert texts.n_searched == 0


@pytest.mark.parametrize(
    "words", ["ship", "new york", "harbour überfahrt77x", "garden no. 77", "nothing", "the"]
)
def test_words_are_found_alike_whether_others_are_held_or_not(session, words):
    expected = session.find(words)
    told = []
    with SessionReader(session.path) as reader:
        found = found_once(reader, "lda", words, 10, lambda *far: told.append(far))
    assert found.topics == expected.topics
    assert found.documents == expected.documents
    assert not found.lack
    assert told[-1] == (text_words.TEXTS_READ, N, N)


def test_no_word_but_those_sought_is_held(session):
    keys = TextWords(Rule(2)).keys("ship")
    with SessionReader(session.path) as reader:
        asked = TextIndex(TextWords(Rule(2)), only=[keys]).read(reader)
        any_word = TextIndex(TextWords(Rule(2))).read(reader)
    assert not asked.words
    for found, expected in zip(asked.with_words(keys), any_word.with_words(keys), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(asked.lengths, any_word.lengths)


def test_reading_texts_begins_anew_after_it_ended_early(session, monkeypatch):
    monkeypatch.setattr(articles, "_AT_ONCE", 50)

    def interrupt(what, done, total):
        if done > 100:
            raise KeyboardInterrupt

    index = TextIndex(TextWords(Rule(2)))
    with SessionReader(session.path) as reader:
        with pytest.raises(KeyboardInterrupt):
            index.read(reader, interrupt)
        assert len(index.texts) == 0
        texts = index.read(reader)
        whole = TextIndex(TextWords(Rule(2))).read(reader)
    assert texts.seqs.tolist() == whole.seqs.tolist()
    assert len(texts.words) == len(whole.words) > 1


def test_what_is_not_searched_is_said(session, monkeypatch):
    assert not session.find("ship").lack
    monkeypatch.setattr(counts, "MOST_COMPARED", 100)
    again = wt.open(session.path).find("ship")
    assert "only titles and beginnings are searched" in again.lack
    assert again.lack in repr(again)
    monkeypatch.setattr(text_words, "MOST_HELD", 10)
    assert f"the first 0 of {N}" in wt.open(session.path).find("ship").lack


@pytest.mark.interop
def test_a_notebook_marks_the_words_and_escapes_everything_else(session):
    pytest.importorskip("jinja2")
    html = session.find("garden")._repr_html_()
    assert "<mark>Garden</mark>" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "did you mean" in session.find("harbuor")._repr_html_()


def test_arguments_are_checked(session):
    with pytest.raises(TypeError, match="words must be text"):
        session.find(3)
    with pytest.raises(ValueError, match="n must be from 1"):
        session.find("ship", n=0)
    with pytest.raises(ValueError, match="no model"):
        session.find("ship", model="hdp")
    with pytest.raises(ValueError, match=r"find\(text\)"):
        session.similar(text="überfahrt77x")


def test_a_damaged_title_is_told(session):
    alter(session, "UPDATE articles SET title = x'00' WHERE seq = 5")
    with pytest.raises(Damaged):
        session.find("ship")


def test_the_words_of_a_question_are_compared_by_bm25(session):
    with SessionReader(session.path) as reader:
        held = Recorded(reader, "lda").words
    minibatch, _ = session.counts()
    words = session.vocabulary().words
    ids = np.array([words.index("new york"), words.index("oven")], np.int32)
    ids.sort()
    matches = held.matches((ids, np.ones(2, np.int32)))
    dense = np.zeros((N, len(words)))
    rows = np.repeat(np.arange(N), np.diff(minibatch.indptr))
    dense[rows, minibatch.word_ids] = minibatch.counts
    length = dense.sum(axis=1)
    frequency = (dense > 0).sum(axis=0)[ids]
    rarity = np.log(1 + (N - frequency + 0.5) / (frequency + 0.5))
    norm = 0.9 * (0.6 + 0.4 * length / length.mean())[:, None]
    scores = (rarity * dense[:, ids] / (dense[:, ids] + norm)).sum(axis=1)
    own = (rarity / (1 + 0.9 * (0.6 + 0.4 * 2 / length.mean()))).sum()
    expected = scores / max(own, scores.max())
    assert np.sort(matches) == pytest.approx(np.sort(expected), abs=0.02)
    assert held.matches((ids[:0], np.ones(0, np.int32))) is None
