"""The session file's tables, as migrations in order. One SQLite file is one session.

To add a table or a column, add a migration at the end of this file, and raise
:data:`session.storage.format.VERSION` by one. Earlier migrations never change. Only `train` migrates a file
(:func:`session.storage.database.migrate`), in one transaction; all other commands read files of every version
as they are. A reader therefore asks for newer columns through :func:`session.storage.database.select`, for
which a missing column is NULL and a missing table is empty. The decoder of the record (in
:mod:`session.storage.codec`) takes NULL as "not recorded". `tests/session/storage/schemas` has a file of each
version; `test_schemas` says how one is made.
"""

from session.storage.sqliteutils import Database, Migrations

migrations = Migrations("wikitopics")


@migrations()
def m001_first(db: Database) -> None:
    """All tables of the first version."""
    db.table("settings").create({"key": str, "value": str}, pk="key")
    db.table("vocabulary").create({"id": int, "fingerprint": str, "words": str}, pk="id")
    db.table("models").create(
        {
            "id": int,
            "name": str,
            "kind": str,
            "spec": str,
            "topics": int,
            "scalars": str,
            "arrays": bytes,
            "topics_in_use": int,
            "updates": int,
            "rho": float,
            "log_likelihood": float,
        },
        pk="id",
    )
    db.table("progress").create(
        {
            "id": int,
            "articles": int,
            "tokens": int,
            "held_out": int,
            "crawled": int,
            "pending": int,
            "skipped": int,
            "minibatches": int,
            "pending_offset": int,
            "next_seq": int,
            "position": str,
            "lap": float,
            "finished": int,
            "elapsed_seconds": float,
            "bytes_read": int,
            "committed_at": float,
        },
        pk="id",
    )
    # Word counts of articles crawled but not yet trained, one row per stretch of the crawl.
    db.table("pending").create({"id": int, "documents": bytes}, pk="id")
    db.table("held_out").create({"id": int, "documents": bytes}, pk="id")
    # The newest trained articles again, to be inferred again with what the models learn later.
    db.table("recent").create({"first_seq": int, "articles": int, "documents": bytes}, pk="first_seq")
    # With --keep-counts: all held-out and trained articles, in the order of the stream.
    db.table("kept_counts").create({"id": int, "articles": int, "documents": bytes}, pk="id")
    # role: index into ROLES. topics: each model's largest topic, as two uint16 (topic, ten-thousandths).
    db.table("articles").create(
        {
            "seq": int,
            "page_id": int,
            "title": str,
            "revision_id": int,
            "words": int,
            "role": int,
            "topics": bytes,
        },
        pk="seq",
    )
    # The same again, in the order in which `articles --topic` reads it.
    db.execute(
        "CREATE TABLE article_topics (model INTEGER, topic INTEGER, proportion INTEGER, seq INTEGER,"
        " PRIMARY KEY (model, topic, proportion, seq)) WITHOUT ROWID"
    )
    db.table("metrics").create(
        {"model": int, "articles": int, "tokens": int, "seconds": float, "metric": str, "value": float},
        pk=("model", "metric", "articles"),
    )
    db.table("snapshots").create(
        {"model": int, "articles": int, "word_ids": bytes, "probabilities": bytes, "shares": bytes},
        pk=("model", "articles"),
    )
    db.table("runs").create(
        {"id": int, "started_at": float, "ended_at": float, "first_article": int, "reason": str}, pk="id"
    )
    db.table("events").create({"id": int, "at": float, "level": str, "message": str}, pk="id")
    db.table("heartbeat").create({"id": int, "at": float, "pid": int, "state": str, "activity": str}, pk="id")
    db.table("flow").create(
        {"id": int, "at": float, "crawl_rate": float, "train_rate": float, "queue": int}, pk="id"
    )
    db.table("control").create({"id": int, "paused": int, "save": int, "stop": int}, pk="id")
    db.table("control").insert({"id": 1, "paused": 0, "save": 0, "stop": 0})


@migrations()
def m002_renewal(db: Database) -> None:
    """How far the newest articles have been inferred again, for a run that ends meanwhile."""
    db.table("progress").add_column("renew_from", int)


@migrations()
def m003_skips(db: Database) -> None:
    """Why articles were skipped: a JSON object of numbers by reason; null until now."""
    db.table("progress").add_column("skips", str)


@migrations()
def m004_ids(db: Database) -> None:
    """A document's id in its own collection; null if the source has no such ids."""
    db.table("articles").add_column("id", str)


@migrations()
def m005_topics(db: Database) -> None:
    """Names of topics, made of words or given, and events of topics."""
    # alive: born and not dead. An older session has no row until its next snapshot.
    db.table("topic_names").create(
        {"model": int, "topic": int, "name": str, "alive": int}, pk=("model", "topic")
    )
    db.table("given_names").create({"model": int, "topic": int, "name": str}, pk=("model", "topic"))
    db.table("topic_events").create(
        {"id": int, "model": int, "articles": int, "event": str, "topic": int, "other": int, "name": str},
        pk="id",
    )


@migrations()
def m006_proportions(db: Database) -> None:
    """The topics of every trained article, and how often every word was trained on."""
    # One row per minibatch, with `--keep-articles all`: the numbers of its articles are first_seq and on.
    db.table("blocks").create(
        {"first_seq": int, "articles": int, "page_ids": bytes, "titles": bytes}, pk="first_seq"
    )
    db.table("proportions").create({"model": int, "first_seq": int, "data": bytes}, pk=("model", "first_seq"))
    # One row, which an older session never gets.
    db.table("word_counts").create({"id": int, "arrays": bytes}, pk="id")


@migrations()
def m007_prequential(db: Database) -> None:
    """How the newest minibatches were predicted before they were trained, if a model has a half-life."""
    db.table("progress").add_column("prequential", str)


@migrations()
def m008_first_articles(db: Database) -> None:
    """A vocabulary may follow another word rule, and be built from the session's own first articles."""
    # Until it is built, their counts of all words, one row per stretch of the crawl. words: the words that
    # the documents' word ids number, one per line. skips, position and lap as in progress, for and after this
    # stretch. unread: pages that could not be counted.
    db.table("first_articles").create(
        {
            "id": int,
            "documents": bytes,
            "words": str,
            "skips": str,
            "unread": int,
            "position": str,
            "lap": float,
        },
        pk="id",
    )
