"""The articles that a session remembers, and what the models make of the newest ones later."""

import sqlite3
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from tests.session import rows as small
from tests.session.rows import largest, settings, sql
from wikitopics.session.errors import Damaged
from wikitopics.session.records import Progress
from wikitopics.session.storage import articles, typical
from wikitopics.session.storage.database import (
    VERSION,
    largest_topic,
    order_by_topic,
    script,
    select,
)
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.recorded import insert_block, renew_proportions


@pytest.fixture
def db():
    database = sqlite3.connect(":memory:")
    database.executescript(f"{script(f'schema-{VERSION}')} {order_by_topic(0)};")
    yield database
    database.close()


def documents(number, first=0):
    return small.documents(*range(first, first + number))


def ranking(db, model, topic):
    largest = largest_topic(model)
    query = (
        f"SELECT seq, {largest} FROM articles WHERE topics IS NOT NULL ORDER BY {largest} DESC, "
        "seq DESC"
    )
    found = [(seq, *np.frombuffer(packed, ">u2").tolist()) for seq, packed in db.execute(query)]
    return [(seq, proportion) for seq, its_topic, proportion in found if its_topic == topic]


def test_only_the_newest_keep_their_counts(db, monkeypatch):
    monkeypatch.setattr("wikitopics.session.storage.articles.RECENT_ARTICLES", 5)
    for first in (1, 4, 107):  # what was skipped has its numbers too
        articles.insert_recent(db, [articles.recent_row(documents(3), first)], keeps_first=False)
    assert db.execute("SELECT first_seq FROM recent ORDER BY first_seq").fetchall() == [
        (4,),
        (107,),
    ]


def recent(db, first_seq, most, later=0):
    """After ``later`` articles more than when the oldest wanted minibatches began."""
    made = {"settings": settings, "vocabulary": lambda: ("word",)}
    reader = SimpleNamespace(
        select=partial(select, db), progress=lambda: Progress(articles=later), **made
    )
    return SessionReader.recent(reader, first_seq, most, 0)


def test_the_newest_are_read_some_at_a_time(db):
    rows = [articles.recent_row(documents(3, first), first) for first in (1, 4, 107)]
    articles.insert_recent(db, rows, keeps_first=False)
    numbers, found = recent(db, 0, 2)
    assert (numbers, found.page_ids.tolist()) == ([1, 2], [1, 2])
    numbers, found = recent(db, 3, 4)
    assert (numbers, found.page_ids.tolist()) == ([3, 4, 5, 6], [3, 4, 5, 6])
    numbers, found = recent(db, 7, 100)
    assert (numbers, found.page_ids.tolist()) == ([107, 108, 109], [107, 108, 109])
    assert recent(db, 110, 100)[0] == []
    for later, left in ((2, 9), (3, 6), (5, 6), (6, 3), (9, 0)):  # minibatches of three
        assert len(recent(db, 1, 100, later)[0]) == left


def seqs(db):
    return [seq for (seq,) in db.execute("SELECT seq FROM articles ORDER BY seq")]


def test_the_best_of_each_topic_stay_and_held_out_ones_always(db):
    articles.insert_articles(db, documents(2), "held_out", None, [1, 2])
    shares = [0.1, 0.9, 0.5, 0.7]
    articles.insert_articles(
        db,
        documents(4, 2),
        "trained",
        largest(([0, 0, 0, 1], shares)),
        range(3, 7),
    )
    articles.keep_top(db, [2], 2)
    assert (ranking(db, 0, 0), ranking(db, 0, 1)) == ([(4, 9000), (5, 5000)], [(6, 7000)])
    assert seqs(db) == [1, 2, 4, 5, 6]


def test_the_best_of_any_model_stay(db):
    both = largest(([0, 0, 0], [0.9, 0.5, 0.7]), ([1, 0, 1], [0.3, 0.2, 0.4]))
    articles.insert_articles(db, documents(3), "trained", both, [1, 2, 3])
    articles.keep_top(db, [2, 2], 1)
    assert seqs(db) == [1, 2, 3]
    articles.keep_top(db, [2], 1)
    assert seqs(db) == [1]


def test_articles_in_between_stay_as_they_are_and_dropped_ones_stay_dropped(db):
    articles.insert_articles(
        db,
        documents(3),
        "trained",
        largest(([0, 0, 0], [0.9, 0.5, 0.7])),
        [1, 2, 3],
    )
    articles.renew_topics(db, [1, 3], largest(([1, 1], [0.2, 0.4])))
    assert (ranking(db, 0, 0), ranking(db, 0, 1)) == ([(2, 5000)], [(3, 4000), (1, 2000)])
    articles.keep_top(db, [2], 1)
    articles.renew_topics(db, [1, 2, 3], largest(([1, 1, 1], [0.2, 0.3, 0.4])))
    assert ranking(db, 0, 1) == [(3, 4000), (2, 3000)]


def add(db, *, titles, words, shares, page_ids=None):
    """Trained articles of topic 0, numbered from 1."""
    n = len(titles)
    block = documents(n)
    if page_ids is not None:
        block = replace(block, page_ids=np.array(page_ids))
    block = replace(block, titles=tuple(titles), counts=np.array(words, np.int32))
    topics = largest((np.zeros(n), shares))
    articles.insert_articles(db, block, "trained", topics, range(1, n + 1))


def about(db, limit=10):
    return typical.most_typical(partial(select, db), 0, [0], limit, VERSION)[0]


def test_a_stub_is_not_typical_however_large_its_share(db):
    add(db, titles="abcd", words=[15, 400, 2_000, 400], shares=[0.98, 0.7, 0.3, 0.75])
    assert about(db) == [4, 2, 1, 3]
    assert about(db, 1) == [4]
    assert typical.typicality(0.8, 30) == pytest.approx(0.4)
    assert typical.typicality(0.0, 0) == 0.0


def test_of_an_article_read_twice_the_most_typical_reading_is_listed(db):
    add(
        db,
        titles=["now", "before", "other"],
        words=[100, 200, 50],
        shares=[0.5, 0.5, 0.5],
        page_ids=[7, 7, 8],
    )
    assert about(db) == [2, 3]


def test_a_longer_list_begins_with_the_shorter_one(db, monkeypatch):
    monkeypatch.setattr("wikitopics.session.storage.typical._RANKED_TOGETHER", 2)
    add(db, titles="abcde", words=[1, 9, 5, 99, 999], shares=[0.9, 0.8, 0.7, 0.6, 0.5])
    assert about(db, 2) == [2, 1]  # the others are not compared with these
    assert about(db, 5) == [2, 1, 4, 3, 5]
    monkeypatch.setattr("wikitopics.session.storage.typical._MOST_LISTED", 4)
    assert about(db, 5) == [2, 1, 4, 3]


def spread_out(db, numbers):
    """Trained articles with these numbers, of topics 0 to 2 in turn."""
    n = len(numbers)
    topics = np.arange(n) % 3
    shares = np.random.default_rng(2).permutation(np.linspace(0.2, 1, n))
    block = replace(documents(n), counts=np.full(n, 100, np.int32))
    articles.insert_articles(db, block, "trained", largest((topics, shares)), numbers)
    return {
        topic: [numbers[row] for row in np.argsort(-shares) if topics[row] == topic]
        for topic in range(3)
    }


@pytest.mark.parametrize("most", [1, 7, 60, 400])
def test_the_sections_of_the_order_are_merged(db, monkeypatch, most):
    """However unevenly the articles about a topic are spread over them."""
    monkeypatch.setattr("wikitopics.session.storage.typical._RANKED_TOGETHER", most)
    few_in_each = [section * 65_536 + 5 for section in range(2, 40)]
    numbers = [*range(1, 301), *few_in_each, *range(5_000_000, 5_000_050)]
    expected = spread_out(db, numbers)
    found = typical.most_typical(partial(select, db), 0, [0, 2], most, VERSION)
    # All documents are equally long, so the proportions decide.
    assert found == {topic: expected[topic][:most] for topic in (0, 2)}
    plan = db.execute(
        "EXPLAIN QUERY PLAN SELECT seq FROM articles WHERE substr(topics, 1, 4) BETWEEN x'00' AND "
        "x'01' AND role = 0 AND seq >> 16 = 3 ORDER BY substr(topics, 1, 4) DESC, seq DESC"
    ).fetchall()
    assert len(plan) == 1  # no sorting
    assert "by_topic_of_model_0" in str(plan[0][-1])


def test_a_file_with_numbers_from_everywhere_is_damaged(db):
    spread_out(db, [section * 65_536 + 1 for section in range(4097)])
    with pytest.raises(Damaged, match=r"articles\.seq"):
        about(db)


def test_titles_are_those_of_the_articles_listed_first_each_once(trained):
    sql(trained, "UPDATE articles SET title = 'the same' WHERE page_id % 2")
    with SessionReader(trained) as reader:
        titles = reader.titles_about("lda", range(5))
        listed = {topic: reader.articles_about("lda", topic, 20) for topic in range(5)}
        sql(trained, "DELETE FROM articles WHERE role = 0")
        assert reader.titles_about("lda", [3, 1]) == {3: (), 1: ()}
    for topic, found in listed.items():
        distinct = list(dict.fromkeys(article.title for article in found))
        assert list(titles[topic]) == distinct[:3]
    assert "the same" in {title for found in titles.values() for title in found}


def test_any_number_of_articles_can_be_looked_up(trained):
    with SessionReader(trained) as reader:
        found, complete = reader.trained_among(range(200_000))
    assert (len(found), complete) == (657, True)


@pytest.mark.parametrize("fine", [False, True])
def test_topics_made_ready_in_parts_are_stored_as_the_same_bytes(fine):
    random = np.random.default_rng(0)
    thetas = [random.dirichlet([0.1] * K, 50).astype(np.float32) for K in (5, 300)]

    def ready(start, stop):
        rows = [theta[start:stop] for theta in thetas]
        return articles.ArticleTopics.of(rows, with_proportions=True, fine=fine)

    whole = ready(0, 50)
    joined = articles.ArticleTopics.concatenate([ready(0, 20), ready(20, 21), ready(21, 50)])
    assert joined.largest.tobytes() == whole.largest.tobytes()
    for of_parts, of_whole in zip(joined.proportions, whole.proportions, strict=True):
        assert of_parts.to_bytes() == of_whole.to_bytes()


def test_proportions_of_a_part_of_the_newest_are_replaced(db):
    thetas = np.random.default_rng(0).dirichlet(np.full(6, 0.4), 12)
    before = Proportions.of(thetas[:6])
    now = Proportions.of(thetas[6:])
    for first, rows in (
        (1, slice(0, 3)),
        (104, slice(3, 6)),
    ):  # skipped ones have numbers in between
        insert_block(db, documents(3, first), [before[rows]], first)
    renew_proportions(db, [2, 3, 104], [now[1:4]], [6])
    found = [data for (data,) in db.execute("SELECT data FROM proportions ORDER BY first_seq")]
    expected = [[before[:1], now[1:3]], [now[3:4], before[4:]]]
    assert found == [Proportions.concatenate(parts).to_bytes() for parts in expected]


def test_a_block_that_says_it_is_vast_takes_no_memory(db):
    of_all = Proportions.of(np.full((3, 6), 1 / 6))
    insert_block(db, documents(3, 1), [of_all], 1)
    db.execute("UPDATE blocks SET articles = ?", [2**40])
    with pytest.raises(Damaged, match=r"proportions\.data"):
        renew_proportions(db, [2], [of_all[:1]], [6])
