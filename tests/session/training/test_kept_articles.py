"""Which trained articles stay in a session, and how what is known of them is renewed."""

import pytest

from tests.session.training.driving import MODELS, Driver, account
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.writer import SessionWriter


@pytest.fixture
def committed(monkeypatch):
    """The changes of each commit, the newest last."""
    commit, changes_of_all = SessionWriter.commit, []

    def noted(store, progress, changes, first_pending):
        changes_of_all.append(changes)
        commit(store, progress, changes, first_pending)

    monkeypatch.setattr(SessionWriter, "commit", noted)
    return changes_of_all


@pytest.mark.parametrize("keep", ["top", "none"])
def test_articles_kept_depend_on_no_commit_and_change_no_model(
    sessions, undisturbed, corpus, keep, states, assert_same_states, monkeypatch
):
    monkeypatch.setattr("wikitopics.session.training.measuring.DROPPED_EVERY", 300)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    monkeypatch.setattr(
        "wikitopics.session.training.measuring.renewal_due", lambda before, after: before < 256 <= after
    )
    everything, calm = sessions("all"), undisturbed(keep_articles=keep)
    Driver(everything, corpus).run()
    assert_same_states(states(calm), states(everything))
    for same in ("counts", "metrics"):
        assert account(calm)[same] == account(everything)[same]
    assert len(account(calm)["trained"]) < len(account(everything)["trained"])
    assert (account(calm)["trained"] == []) == (keep == "none")


def test_of_many_articles_only_the_best_of_each_topic_stay_in_between(sessions, corpus_of, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.measuring.DROPPED_EVERY", 400)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    many = corpus_of(740)
    path = sessions("s", many, model=(MODELS["lda"],), keep_articles="top")
    driver, kept = Driver(path, many), []
    while driver.trainer.progress.articles < 700:
        driver.act()
        driver.trainer.commit(0.0, 0)
        kept.append((driver.trainer.progress.articles, len(account(path)["trained"])))
    driver.close()
    best = 3 * driver.trainer.models[0].n_topics
    assert next(rows for articles, rows in kept if articles >= 200) <= best
    assert max(rows for articles, rows in kept if articles < 200) > best
    assert next(rows for articles, rows in kept if articles >= 600) <= best


def test_old_articles_end_up_as_in_an_undisturbed_run(undisturbed, corpus_of, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.stream.RENEWED_TOGETHER", 100)
    monkeypatch.setattr("wikitopics.session.storage.articles.RECENT_ARTICLES", 700)
    many = corpus_of(1500, empty=range(100, 1400, 3))
    undisturbed(many, model=(MODELS["lda"], MODELS["scvb0"]))


def test_the_newest_articles_are_looked_at_again_each_time_the_stream_has_doubled(
    sessions, corpus_of, committed
):
    """Some after each minibatch, so that neither a start nor the stream waits for all of them."""
    many = corpus_of(1700)
    path = sessions("s", many, model=(MODELS["lda"],))
    driver, found = Driver(path, many), []
    while not driver.trainer.done():
        before = driver.trainer.progress.articles
        driver.act()
        trained = driver.trainer.progress.articles - before
        driver.trainer.commit(0.0, 0)
        found += [(before, trained, len(seqs), seqs[-1]) for seqs, _ in committed.pop().renewed]
    driver.close()
    assert found[0][0] == 1024
    assert all(0 < renewed <= 2 * trained for _, trained, renewed, _ in found)
    assert (sum(renewed for *_, renewed, _ in found), found[-1][3]) == (1024, 1064)


def test_what_is_left_to_look_at_again_is_done_at_the_end(sessions, corpus_of):
    many = corpus_of(1100)
    path = sessions("s", many, model=(MODELS["lda"],))
    driver = Driver(path, many)
    while driver.trainer.progress.articles < 1060:
        driver.act()
    assert driver.trainer.renewing
    assert not driver.trainer.done()
    assert driver.run().trainer.progress.renew_from is None


def test_a_step_asks_the_session_for_nothing_once_it_learns(sessions, corpus, committed, monkeypatch):
    """It may have been given up by then, and the session be saved and closed beside it."""
    monkeypatch.setattr(
        "wikitopics.session.training.measuring.renewal_due", lambda before, after: before < 256 <= after
    )
    driver = Driver(sessions("s", model=(MODELS["lda"],)), corpus)
    while not (driver.trainer.renewing and driver.trainer.ready()):
        driver.act()
    driver.trainer.commit(0.0, 0)
    model = driver.trainer.models[0]
    learn = model.learn

    def learn_meanwhile(minibatch):
        driver.store.close()
        return learn(minibatch)

    model.learn = learn_meanwhile
    trained = driver.trainer.step(lambda: 0.0)
    with pytest.raises(SessionError):
        driver.trainer.commit(0.0, 0)
    ((seqs, _),) = committed.pop().renewed
    assert len(seqs) == 2 * trained
    driver.close()
