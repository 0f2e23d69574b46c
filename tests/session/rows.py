"""What a small session's tables hold."""

import hashlib

import numpy as np

from wikitopics.session.records import TopWords
from wikitopics.session.settings import Settings
from wikitopics.session.specs import ModelSpec
from wikitopics.session.storage.articles import ArticleRows
from wikitopics.session.storage.blobs import pack_state
from wikitopics.session.storage.changes import Changes, ModelRow
from wikitopics.session.storage.documents import Documents

WORDS = ("aa", "bb", "cc")


def settings():
    return Settings(
        {
            "seed": 0,
            "held_out": 2,
            "documents": 10,
            "keep_articles": "all",
            "keep_counts": False,
            "vocab_articles": 10_000,
        },
        source="api",
        source_name="a wiki",
        source_options={"api_url": "http://x"},
        vocabulary="english",
        fingerprint=hashlib.sha256("\n".join(WORDS).encode()).hexdigest(),
        rule="1",
        models=(ModelSpec("lda", "lda", 2),),
        batch_sizes=(64,),
    )


def row(value=0.0):
    return ModelRow(*pack_state({"kind": "lda", "a": np.full((2, 3), value)}), 1, 3, 0.5)


def documents(*page_ids):
    n = len(page_ids)
    return Documents(
        np.array(page_ids, np.int64),
        np.zeros(n, np.int64),
        tuple(f"p{i}" for i in page_ids),
        np.arange(n + 1, dtype=np.int64),
        np.zeros(n, np.int32),
        np.ones(n, np.int32),
    )


def changes(*page_ids, number=1):
    found = documents(*page_ids)
    topics = (np.zeros(len(found), np.intp), np.full(len(found), 0.75))
    return Changes(
        pending=[(number, found)],
        held_out=[found],
        articles=[ArticleRows(found, "trained", [topics])],
        metrics=[(0, 64, 640, 1.5, "log_likelihood", -7.0)],
        snapshots=[
            TopWords(0, 64, np.zeros((2, 3), np.int32), np.ones((2, 3), np.float32), np.ones(2, np.float32))
        ],
        models={0: row(1.0)},
    )
