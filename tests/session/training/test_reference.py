"""The articles in which coherence is counted: the first ones learnt, the same for a session's whole
life."""

from tests.corpora import SMALL
from tests.session.rows import sql
from wikitopics.session.storage.reader import SessionReader


def reference_ids(path):
    with SessionReader(path) as reader:
        return reader.reference().page_ids.tolist()


def test_the_reference_articles_are_the_first_learnt_and_stay(cli, corpus, home, monkeypatch):
    for module in ("training.reference", "storage.counts"):
        monkeypatch.setattr(f"wikitopics.session.{module}.REFERENCE_ARTICLES", 100)
    options = [*corpus.options(), *SMALL, "--topics", "5", "--passes", "2"]
    path = home / "default.db"
    cli.ok("train", *options, "--articles", 150)  # minibatches of 64: the second is cut
    kept = reference_ids(path)
    trained = sql(path, "SELECT page_id FROM articles WHERE role = 0 ORDER BY seq LIMIT 100")
    assert kept == [page_id for (page_id,) in trained]
    cli.ok("train")
    assert reference_ids(path) == kept
