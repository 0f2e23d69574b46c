"""How much articles are like another one, by their topics and by their words."""

import shutil

import numpy as np
import pytest

import wikitopics as wt
from tests.session.rows import alter, recorded_proportions
from wikitopics.session.analysis import similar
from wikitopics.session.analysis.similar import Recorded, Words
from wikitopics.session.errors import Damaged
from wikitopics.session.storage import counts
from wikitopics.session.storage import recorded as storage_of_recorded
from wikitopics.session.storage.reader import SessionReader

N = 300
SUBJECTS = 6
OF_SUBJECT = 8
"""Words of each subject."""


@pytest.fixture(scope="module")
def texts():
    """Each of one subject; in one of four is a pair of words that only ten of the texts share."""
    random = np.random.default_rng(3)
    made = []
    for number in range(N):
        subject = number % SUBJECTS
        words = [f"w{chr(97 + subject)}{chr(97 + of)}x" for of in range(OF_SUBJECT)]
        text = random.choice(words, 30).tolist()
        if number % 4 == 0:
            text += [f"rare{chr(97 + number // 4 % 7)}q"] * 3
        made.append(" ".join(text))
    return made


@pytest.fixture
def session_of(texts, made_once, trainers_run_here, tmp_path):
    """A copy of the session of these texts that was trained in so many passes: ``session_of(2)``."""

    def copied(passes):
        def train(folder):
            path = folder / "s.db"
            wt.train(texts, session=path, topics=SUBJECTS, passes=passes, progress=False)

        folder = made_once(f"similar-{passes}", train)
        return wt.open(shutil.copy(folder / "s.db", tmp_path))

    return copied


@pytest.fixture
def session(session_of):
    return session_of(2)


@pytest.fixture
def trained_once(session_of):
    return session_of(1)


def recorded(session):
    with SessionReader(session.path) as reader:
        return Recorded(reader, reader.model_named(None))


def test_likeness_compares_topics_and_words(session, texts):
    found = session.similar("text 1", N)
    by_id = {one.page_id: one.likeness for one in found}
    assert all(0 <= likeness <= 1 for likeness in by_id.values())
    assert [one.likeness for one in found] == sorted(by_id.values(), reverse=True)
    assert all(one.distance == 1 - one.likeness for one in found)
    of_subject = [one.page_id % SUBJECTS == 1 for one in found]
    assert all(of_subject[: N // SUBJECTS - 1])
    # A text of which only rare words are known has no topic of its own, but is found by its words.
    rare = [one.page_id - 1 for one in session.similar(text="rarebq", limit=5)]
    assert all("rarebq" in texts[number] for number in rare)


def test_words_are_the_cosine_of_tf_idf(session):
    words = recorded(session).words
    minibatch, page_ids = session.counts()
    dense = np.zeros((N, len(session.vocabulary().words)))
    rows = np.repeat(np.arange(N), np.diff(minibatch.indptr))
    dense[rows, minibatch.word_ids] = np.sqrt(minibatch.counts)
    dense *= np.log((N + 1) / ((dense > 0).sum(axis=0) + 1))
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    asked = 17
    ids = minibatch.word_ids[minibatch.indptr[asked] : minibatch.indptr[asked + 1]]
    numbers = minibatch.counts[minibatch.indptr[asked] : minibatch.indptr[asked + 1]]
    expected = dict(zip(page_ids.tolist(), dense @ dense[asked], strict=True))
    found = dict(
        zip(
            recorded(session).articles.page_ids.tolist(), words.cosines((ids, numbers)), strict=True
        )
    )
    assert found.keys() == expected.keys()
    np.testing.assert_allclose(
        [found[page] for page in expected], list(expected.values()), atol=0.02
    )
    assert words.cosines((ids[:0], numbers[:0])) is None


def test_a_session_of_one_pass_has_the_words_of_its_newest_and_of_held_out_texts(trained_once):
    held = recorded(trained_once)
    assert held.words is not None
    assert len(held) == N
    with SessionReader(trained_once.path) as reader:
        for row in (0, N // 2, N - 1):
            (seq,) = held.articles.seqs(np.array([row])).tolist()
            ids, numbers = reader.words_of(reader.numbered([seq])[seq])
            found_ids, found = held.words.counted(row)
            assert found_ids.tolist() == ids.tolist()
            assert found.tolist() == numbers.tolist()


def theta(session, held, row):
    with SessionReader(session.path) as reader:
        return held.theta(reader, row)


@pytest.mark.parametrize("missing", ["some", "all", "too large"])
def test_topics_alone_are_compared_if_not_all_words_are_there(session, monkeypatch, missing):
    if missing == "some":
        alter(session, "DELETE FROM kept_counts WHERE id = (SELECT max(id) FROM kept_counts)")
    elif missing == "all":
        alter(session, "DELETE FROM kept_counts")
    else:
        monkeypatch.setattr(counts, "MOST_COMPARED", 100)
    held = recorded(session)
    assert held.words is None
    of_it = theta(session, held, 3)
    some_words = (np.array([1], np.int32), np.array([1], np.int32))
    np.testing.assert_array_equal(held.likeness(of_it), held.likeness(of_it, some_words))


def test_what_a_few_words_say_of_topics_counts_little(session):
    alter(session, "DELETE FROM kept_counts", "UPDATE articles SET words = 300")
    row = 0
    before = recorded(session)
    likeness = before.likeness(theta(session, before, row))
    twin = int(np.argsort(-likeness)[1])
    (seq,) = before.articles.seqs(np.array([twin])).tolist()
    alter(session, f"UPDATE articles SET words = 3 WHERE seq = {seq}")
    after = recorded(session)
    now = after.likeness(theta(session, after, row))
    assert now[twin] < likeness[twin] - 0.1
    others = np.delete(np.arange(N), twin)
    np.testing.assert_array_equal(now[others], likeness[others])


@pytest.mark.parametrize("words", [0, 1, 10**15])
def test_likeness_is_from_0_to_1_whatever_a_file_says(session, words):
    alter(session, f"UPDATE articles SET words = {words}")
    held = recorded(session)
    for topic in range(SUBJECTS):
        theta = np.zeros(SUBJECTS)
        theta[topic] = 1
        for counted in (None, held.words.counted(0)):
            likeness = held.likeness(theta, counted)
            assert np.isfinite(likeness).all()
            assert likeness.min() >= 0
            assert likeness.max() <= 1


def test_topics_that_no_article_has_and_average_texts_are_no_exception(session):
    held = recorded(session)
    held._shares[:] = [1 - 5e-9, *[1e-9] * 5]
    assert np.isfinite(held.likeness(np.eye(SUBJECTS)[4])).all()
    average = held.likeness(held._shares)
    assert ((average >= 0) & (average <= 1)).all()


def test_words_that_all_articles_have_say_nothing():
    indptr = np.array([0, 1, 2])
    everywhere = Words(indptr, np.zeros(2, np.uint16), np.full(2, 8, np.uint8), 3)
    word = (np.array([0], np.int32), np.array([1], np.int32))
    assert everywhere.cosines(word) is None


def test_articles_that_lack_a_row_are_damage(session):
    alter(session, "DELETE FROM articles WHERE seq = 40")
    with pytest.raises(Damaged, match="blocks and articles do not match"):
        recorded(session)


def test_reading_in_parts_gives_the_same_bits_and_says_how_far_it_is(session, monkeypatch):
    whole = recorded(session)
    monkeypatch.setattr(storage_of_recorded, "READ_TOGETHER", 1)
    told = []
    with SessionReader(session.path) as reader:
        in_parts = Recorded(reader, "lda", lambda *far: told.append(far))
        n_blocks = len(reader.blocks())
    for row in (0, 5, N - 1):
        of_it = theta(session, whole, row)
        np.testing.assert_array_equal(in_parts.likeness(of_it), whole.likeness(of_it))
    assert len(told) == n_blocks > 1
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1] == (similar.TOPICS_READ, N, N)


def test_proportions_too_small_to_compare_are_not_held_but_asked_for(session):
    held = recorded(session)
    with SessionReader(session.path) as reader:
        stored = recorded_proportions(reader, "lda", held_out=True)
        assert sum(len(part.topics) for part in held._lifts) == len(stored.usual(SUBJECTS).topics)
        for row in (0, N - 1):
            of_it = held.theta(reader, row)
            recorded_of_it = stored[row : row + 1]
            np.testing.assert_allclose(
                of_it[recorded_of_it.topics], recorded_of_it.values(), atol=1e-6
            )
            assert of_it.sum() == pytest.approx(1)
