"""A commit: how long it keeps others from writing."""

import contextlib
from dataclasses import replace

from wikitopics.session.storage import decoding
from wikitopics.session.storage.database import connect
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.intake.counts_npz import CountsFile
from wikitopics.session.training.stream import Stream


def test_a_heartbeat_is_written_while_a_commit_packs(tmp_path, corpus, new_session, monkeypatch):
    path = new_session(tmp_path / "s.db", corpus, model=("lda:topics=3",), held_out=40, keep_counts=True)
    beating, packed, pack_arrays = connect(path, timeout=0.01), [], decoding.pack_arrays

    def pack(arrays):
        beating.execute("UPDATE control SET save = 1")  # refused where a transaction has begun
        packed.append(arrays)
        return pack_arrays(arrays)

    for module in ("decoding", "counts"):
        monkeypatch.setattr(f"wikitopics.session.storage.{module}.pack_arrays", pack)
    store, file = SessionWriter(path), CountsFile(corpus.counts, len(corpus.words))
    with contextlib.closing(store), contextlib.closing(file), contextlib.closing(beating):
        stream = Stream(store, article_limit=None, threads=1)
        stream.feed(replace(file.documents(0, 200), position={"document": 200}))
        stream.step(lambda: 0.0)
        stream.commit(0.0, 0)
    # The model, the words, what waits; what is held out and what was trained, each of them twice.
    assert len(packed) == 7
