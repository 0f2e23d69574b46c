"""A session file of every schema that there has been still opens and goes on.

Made with `python -m tests.session.storage.test_schemas`, once, when the schema is new; never again later.
"""

import contextlib
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "schemas"
ALL = sorted(FOLDER.glob("*.sqlite"))


def test_there_is_a_file_of_every_schema():
    from session.storage.format import VERSION

    assert [path.stem for path in ALL] == [str(version) for version in range(1, VERSION + 1)]


@pytest.mark.parametrize("kept", ALL, ids=lambda path: path.stem)
def test_an_old_session_is_read_and_goes_on(kept, tmp_path):
    from session.storage.documents import Block
    from session.storage.format import VERSION
    from session.storage.reader import SessionReader
    from session.storage.writer import SessionWriter
    from session.training.stream import Stream

    path = tmp_path / "old.db"
    shutil.copy(kept, path)
    with SessionReader(path) as reader:
        status = reader.status()
        assert (status.articles, status.held_out) == (100, 20)
        assert [model.name for model in status.models] == ["lda", "scvb0", "hdp"]
    store = SessionWriter(path)
    trainer = Stream(store, article_limit=None, threads=1)
    held_out = store.held_out()
    new = replace(held_out, page_ids=held_out.page_ids + 1000)
    trainer.feed(Block(new, {}, {"document": 140}, None))
    trainer.end_of_source()
    assert trainer.step(lambda: 1.0) == 20
    trainer.commit(1.0, 0)
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == VERSION
    with SessionReader(path) as reader:
        assert reader.status().articles == 120


@pytest.mark.parametrize("kept", ALL[:2], ids=lambda path: path.stem)
def test_an_old_model_is_read_as_it_was(kept, tmp_path):
    """Its generator was kept as numpy's own dict, step sizes as lists, and what is not known as None."""
    from session.answers.inference import saved_model
    from session.storage.reader import SessionReader

    path = tmp_path / "old.db"
    shutil.copy(kept, path)
    with SessionReader(path) as reader:
        for name in ("lda", "scvb0", "hdp"):
            state = reader.model_state(name)
            model = saved_model(reader, name)
            assert model._random.bit_generator.state == state["random"]
            now, then = model.state(), type(model).upgraded(state)
            assert now["random"].dtype == np.uint64
            assert now["version"] > state.get("version", 1)
            for key in now.keys() - {"kind", "version", "random"}:
                np.testing.assert_array_equal(then[key], now[key], err_msg=key)


if __name__ == "__main__":
    import os
    import tempfile

    from session.storage.format import VERSION
    from tests.corpora import write_corpus
    from wikitopics.cli import run

    with tempfile.TemporaryDirectory() as folder:
        os.environ["WIKITOPICS_HOME"] = folder
        corpus = write_corpus(Path(folder), 300, words=20)
        models = ["--model", "lda:topics=3", "--model", "scvb0:topics=3", "--model", "hdp:topics=5"]
        more = ["--batch-size", "64", "--held-out", "20", "--articles", "100", "--keep-counts"]
        assert run(["train", *corpus.options(), *models, *more]) == 0
        shutil.copy(Path(folder) / "default.db", FOLDER / f"{VERSION}.sqlite")
