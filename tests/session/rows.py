"""What a small session's tables hold."""

import contextlib
import hashlib
import sqlite3

import numpy as np

from wikitopics.session.records import TopWords
from wikitopics.session.settings import ModelSpec, Settings
from wikitopics.session.storage.articles import LARGEST, ArticleTopics
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.decoding import pack_state
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.writer import Changes

WORDS = ("aa", "bb", "cc")


def settings():
    return Settings(
        {
            "seed": 0,
            "held_out": 2,
            "documents": 10,
            "keep_articles": "all",
            "keep_counts": False,
            "no_snippets": False,
            "passes": 1,
            "replicas": 0,
            "vocab_articles": 10_000,
            "tokens": "words",
        },
        source="api",
        source_name="a wiki",
        source_options={"api_url": "http://x"},
        vocabulary="english",
        fingerprint=hashlib.sha256("\n".join(WORDS).encode()).hexdigest(),
        rule="1",
        models=(ModelSpec("lda", "lda", 2),),
        batch_sizes=(64,),
        measured_every=10_000,
    )


def recorded_proportions(reader, model, *, held_out=False):
    """The proportions of all articles in a model, as they are recorded."""
    none = Proportions.none(reader.spec(model).topics)
    return Proportions.concatenate([none, *reader.each_part(model, held_out=held_out)])


def kept_snippets(reader):
    """The snippet of each article that has one, by its number."""
    kept = {}
    for seqs, _, _, of_each in reader.texts_after(0):
        kept |= {seq: snippet for seq, snippet in zip(seqs, of_each, strict=True) if snippet}
    return kept


def sql(path, statement, *parameters):
    """The rows of a statement that another program runs on a file."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement, parameters).fetchall()


def alter(session, *statements):
    """Have another program run these statements on the file of a session that is open."""
    for statement in statements:
        sql(session.path, statement)


def row(value=0.0):
    """A row of the table of models."""
    scalars, arrays = pack_state({"kind": "lda", "a": np.full((2, 3), value)})
    return {"scalars": scalars, "arrays": arrays, "topics_in_use": 1, "updates": 3, "rho": 0.5}


def documents(*page_ids):
    """Articles that have the first word once."""
    n = len(page_ids)
    return Block(
        np.array(page_ids, np.int64),
        np.zeros(n, np.int64),
        tuple(f"p{page_id}" for page_id in page_ids),
        np.arange(n + 1, dtype=np.int64),
        np.zeros(n, np.int32),
        np.ones(n, np.int32),
    )


def largest(*models):
    """For each model the largest topics of some articles, and their proportions."""
    columns = []
    for topics, shares in models:
        columns += [topics, np.rint(np.asarray(shares) * 10_000)]
    return ArticleTopics(np.column_stack(columns).astype(LARGEST))


def changes(*page_ids, number=1):
    """What a trainer commits: articles in each role, a measurement, a snapshot and a model."""
    block = documents(*page_ids)
    topics = largest((np.zeros(len(block)), np.full(len(block), 0.75)))
    ones = np.ones((2, 3), np.float32)
    words = (np.zeros((2, 3), np.int32), ones)
    return Changes(
        pending=[(number, block)],
        articles=[(block, "held_out", None), (block, "trained", topics)],
        metrics=[(0, 64, 640, 1.5, "log_likelihood", -7.0)],
        snapshots=[TopWords(0, 64, words, words, ones[:, 0])],
        models={0: row(1.0)},
    )
