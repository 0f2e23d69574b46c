"""The maps of articles that a trainer keeps."""

import contextlib
import shutil
from random import Random
from unittest.mock import Mock

import numpy as np
import pytest

from tests.session.rows import recorded_proportions, sql
from tests.session.training.driving import MODELS, Driver, chart
from wikitopics.model.article_map import LATER_ROUNDS, ROUNDS
from wikitopics.session.analysis.article_map import MapFollower, article_map, why_no_map
from wikitopics.session.errors import Damaged, NotNow, SessionError
from wikitopics.session.storage.database import MOST_ROWS, connect
from wikitopics.session.storage.places import rows_of
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.recorded import renew_proportions
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.system import TrainerLock
from wikitopics.session.training.charting import Charting

LDA = (MODELS["lda"],)


@pytest.fixture
def finished(sessions, corpus, made_once, tmp_path):
    """A copy of a finished session, which a test may change."""

    def train(folder):
        trained = sessions("finished", model=LDA)
        Driver(trained, corpus).run()
        shutil.copy(trained, folder)

    return shutil.copy(made_once("charted", train) / "finished.db", tmp_path / "copy.db")


@pytest.fixture
def usual_layouts(monkeypatch):
    """Maps are laid out in all their steps."""
    monkeypatch.setattr("wikitopics.model.article_map.ROUNDS", ROUNDS)
    monkeypatch.setattr("wikitopics.model.article_map.LATER_ROUNDS", LATER_ROUNDS)


def test_all_trained_articles_have_the_places_that_follow_from_what_is_stored(finished):
    with SessionReader(finished) as reader:
        (layout,) = reader.layouts("lda")
        assert layout.articles == reader.progress().articles
        assert reader.unplaced("lda", layout.articles, 1) == []
        found = article_map(reader, "lda")
        stored = recorded_proportions(reader, "lda", held_out=True)
        recorded = reader.recorded_articles(held_out=True)
        computed = layout.opened().placed(rows_of(stored))
    assert np.array_equal(found.places, computed)
    assert np.array_equal(found.seqs, recorded.seqs(np.arange(len(found))))
    starts = stored.indptr()
    for row in (0, 17, len(found) - 1):
        largest = stored.largest(row)[0][1]
        own = slice(starts[row], starts[row + 1])
        assert stored.values()[own][
            stored.topics[own].tolist().index(found.topics[row])
        ] == pytest.approx(largest)


def test_places_that_are_not_stored_are_computed(finished):
    with SessionReader(finished) as reader:
        before = article_map(reader, "lda")
    sql(finished, "DELETE FROM places")
    with SessionReader(finished) as reader:
        found = article_map(reader, "lda")
    assert np.array_equal(found.places, before.places)


@pytest.mark.parametrize("seed", range(3))
def test_interrupted_anywhere_the_map_is_the_same(sessions, corpus, seed, usual_layouts):
    undisturbed = sessions("undisturbed", model=LDA)
    Driver(undisturbed, corpus).run()
    disturbed = sessions("disturbed", model=LDA)
    driver = Driver(disturbed, corpus, threads=(1, 2), chance=Random(seed)).run()
    assert driver.deaths > 3
    with SessionReader(undisturbed) as reader, SessionReader(disturbed) as other:
        assert chart(reader, "lda") == chart(other, "lda")


def committed(driver):
    """Run the trainer to its end; pauses after each commit."""
    while not driver.trainer.done():
        driver.act()
        driver.trainer.commit(0.0, 0)
        yield
    driver.close()


def test_who_watches_sees_where_articles_lie_that_were_read_again(sessions, corpus, usual_layouts):
    driver = Driver(sessions("s", model=LDA, passes=3), corpus)
    follower = MapFollower("lda")
    compared = 0
    with SessionReader(driver.path) as reader:
        for _ in committed(driver):
            seen = follower.read(reader)
            progress = reader.progress()
            if seen is None or progress.renew_from is not None:
                continue
            expected = article_map(reader, "lda")
            assert np.array_equal(seen.places, expected.places)
            assert np.array_equal(seen.topics, expected.topics)
            compared += progress.again > 0
    assert compared > 5


def test_who_reads_places_slowly_reads_those_of_all_articles(
    sessions, corpus, usual_layouts, monkeypatch
):
    monkeypatch.setattr("wikitopics.session.analysis.article_map.PLACED_TOGETHER", 128)
    driver = Driver(sessions("s", model=LDA, passes=3), corpus)
    follower = MapFollower("lda")
    complete = 0
    with SessionReader(driver.path) as reader:
        for _ in committed(driver):
            seen = follower.read(reader, 0.0)
            complete += seen is not None and follower.is_complete
    assert complete


def test_a_map_grows_with_the_stream_and_drifts_from_where_it_was(sessions, corpus, usual_layouts):
    driver = Driver(sessions("s", model=LDA), corpus)
    follower = MapFollower("lda")
    layouts = []
    earlier = None
    moved = []
    with SessionReader(driver.path) as reader:
        for _ in committed(driver):
            found = follower.read(reader)
            if found is None:
                continue
            if not layouts or found.layout != layouts[-1]:
                layouts.append(found.layout)
                if earlier is not None:
                    both = min(len(found), len(earlier))
                    before = earlier.places[:both].astype(float)
                    way = np.hypot(*(found.places[:both] - before).T)
                    to_any_other = np.hypot(*(before[::-1] - before).T)
                    moved.append(np.median(way) / np.median(to_any_other))
            assert follower.is_complete
            assert follower.read(reader) is found
            earlier = found
    assert layouts[0] == 512
    assert len(layouts) > 1
    assert max(moved) < 0.8, "nearer to where it was than to where others were"


def test_a_layout_that_is_asked_for_comes_before_the_next_doubling(sessions, corpus):
    driver = Driver(sessions("s", model=LDA), corpus)
    while driver.trainer.progress.articles < 576:
        driver.act()
    driver.trainer.lay_out()
    articles = driver.trainer.progress.articles
    driver.act()
    assert driver.trainer.progress.articles == articles
    while driver.trainer.progress.articles == articles:
        driver.act()
    driver.trainer.commit(0.0, 0)
    driver.trainer.commit(0.0, 0)
    with SessionReader(driver.path) as reader:
        assert articles in [layout.articles for layout in reader.layouts("lda")]
    driver.close()


def test_a_stored_place_goes_with_the_proportions_it_followed_from(finished):
    with SessionReader(finished) as reader:
        (layout,) = reader.layouts("lda")
        *_, newest = reader.blocks()
        proportions = reader.stored("lda", [newest]).proportions
    first, _ = newest
    with contextlib.closing(connect(finished)) as db, db:
        renew_proportions(db, [first], [proportions[:1]], [4])
    with SessionReader(finished) as reader:
        assert reader.unplaced("lda", layout.articles, 9) == [newest]


def test_articles_with_very_many_blocks_between_them_are_renewed_together(finished):
    with SessionReader(finished) as reader:
        first_block, *_ = reader.blocks()
        proportions = reader.stored("lda", [first_block]).proportions
        last = reader.last_seq()
    far = last + MOST_ROWS
    sql(
        finished,
        "INSERT INTO blocks WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
        "i < ?) SELECT ? + i, 1, x'', x'' FROM n",
        MOST_ROWS,
        last,
    )
    sql(finished, "INSERT INTO proportions VALUES (0, ?, ?)", far, proportions[:1].to_bytes())
    first, _ = first_block
    with contextlib.closing(connect(finished)) as db, db:
        renew_proportions(db, [first, far], [proportions[:2]], [4])
    with SessionReader(finished) as reader:
        renewed = reader.proportions_of("lda", far, 1)
    assert renewed.to_bytes() == proportions[1:2].to_bytes()


@pytest.mark.parametrize("keep", ["top", "none"])
def test_without_proportions_there_is_no_map_and_one_line_says_why(sessions, corpus, keep):
    path = sessions(keep, model=LDA, keep_articles=keep)
    Driver(path, corpus).run()
    with SessionReader(path) as reader:
        assert MapFollower("lda").read(reader) is None
        with pytest.raises(SessionError, match=r"no map of documents: .*--keep-articles all"):
            article_map(reader, "lda")


def test_a_session_without_places_says_how_it_gets_them(sessions, corpus):
    path = sessions("earlier", model=LDA)
    Driver(path, corpus).run()
    sql(path, "DELETE FROM layouts")
    with SessionReader(path) as reader:
        assert "`wikitopics train" in why_no_map(reader, "lda")
    with TrainerLock(path), SessionReader(path) as reader:
        assert why_no_map(reader, "lda").endswith("as training goes on")


def test_a_new_session_has_no_map(sessions):
    with SessionReader(sessions("new")) as reader:
        assert why_no_map(reader, "lda")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE layouts SET landmarks = 3",
        "UPDATE layouts SET landmarks = 1000000000",
        "UPDATE layouts SET topics = x'00'",
        "UPDATE layouts SET topics = randomblob(length(topics) / 2) || x'ff'",
        "UPDATE layouts SET places = x'0102'",
        "UPDATE layouts SET proportions = 'text'",
        "UPDATE places SET data = x'01'",
        "UPDATE places SET layout = 'soon'",
    ],
)
def test_a_damaged_map_is_refused(finished, damage):
    sql(finished, damage)
    with SessionReader(finished) as reader, pytest.raises(Damaged):
        chart(reader, "lda")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blocks SET articles = 1000000000000000",
        "UPDATE blocks SET articles = 1000000",
        "UPDATE blocks SET articles = articles + 1",
        "UPDATE blocks SET page_ids = NULL",
    ],
)
def test_no_room_is_made_for_articles_that_a_session_does_not_hold(finished, damage):
    sql(finished, damage)
    with SessionReader(finished) as reader, pytest.raises(Damaged, match="blocks"):
        MapFollower("lda").read(reader)


def test_articles_are_placed_however_little_time_there_is(finished):
    sql(finished, "DELETE FROM places")
    with contextlib.closing(SessionWriter(finished)) as store:
        (layout,) = store.layouts("lda")
        charting = Charting(store, lambda number: None)
        blocks = store.unplaced("lda", layout.articles, 10**6)
        changes = Changes()
        assert not charting.place(0.0, changes)
        assert [row[1] for row in changes.places] == [blocks[0][0]]


def test_when_the_time_is_up_the_session_is_not_read_for_the_next_model(sessions, corpus):
    path = sessions("two", model=(MODELS["lda"], "lda:topics=3,batch_size=64,name=other"))
    Driver(path, corpus).run()
    sql(path, "DELETE FROM places WHERE first_seq = (SELECT max(first_seq) FROM places)")
    with contextlib.closing(SessionWriter(path)) as store:
        charting = Charting(store, lambda number: None)
        asked = []
        unplaced = store.unplaced

        def noted(model, *arguments):
            asked.append(model)
            return unplaced(model, *arguments)

        store.unplaced = noted
        assert not charting.place(0.0, Changes())
        assert asked == ["lda"]
        assert charting.place(60.0, Changes())


def test_places_that_wait_to_be_committed_are_not_computed_again(finished, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.charting.PLACING", 1e9)  # no rest
    sql(finished, "DELETE FROM places")
    with contextlib.closing(SessionWriter(finished)) as store:
        charting = Charting(store, lambda number: None)
        changes = Changes()
        charting.place_beside(1.0, changes)
        placed = len(changes.places)
        assert placed > 0
        charting.place_beside(1.0, changes)
        assert len(changes.places) == placed


def test_a_session_without_places_of_topics_gets_its_map_before_it_ends(sessions, corpus):
    path = sessions("s", model=LDA)
    driver = Driver(path, corpus)
    while driver.trainer.progress.articles < 192:
        driver.act()
    driver.trainer.commit(0.0, 0)
    driver.close()
    # As in a session of 1.1 that was stopped between two snapshots.
    sql(path, "DELETE FROM areas")
    sql(path, "DELETE FROM snapshots WHERE articles >= 192")
    Driver(path, corpus, limit=192).run()
    with SessionReader(path) as reader:
        assert reader.progress().finished
        assert chart(reader, "lda")["unplaced"] == []
    Driver(path, corpus).run()


def test_articles_that_could_not_be_read_are_read_later(finished, monkeypatch):
    follower = MapFollower("lda")
    with SessionReader(finished) as reader:
        with monkeypatch.context() as patched:
            patched.setattr(reader, "stored", Mock(side_effect=NotNow("busy")))
            with pytest.raises(NotNow):
                follower.read(reader)
        found = follower.read(reader, seconds=60)
        assert np.array_equal(found.places, article_map(reader, "lda").places)


def test_a_text_has_no_place_on_a_map_that_was_dropped_meanwhile(finished):
    follower = MapFollower("lda")
    theta = np.eye(4)
    with SessionReader(finished) as reader:
        follower.read(reader)
        sql(finished, "DELETE FROM layouts")
        assert follower.place(reader, theta) is None
