"""Exported topics as a model again: it infers as the first, and hostile files are refused in one
line."""

import os
import zipfile

import numpy as np
import pytest

from tests.model.conftest import planted_batch, read
from wikitopics.model import Minibatch, OnlineLDA, OnlineModel, StateError, exported, kinds
from wikitopics.model.exported import ExportError

WORDS = [f"word{w}" for w in range(40)]


def trained(kind):
    return read(kinds.load(kind).create(5, 40, 300), planted_batch(300), 50)


@pytest.fixture
def arrays():
    return exported.arrays_of(trained("lda"), WORDS)


def test_infers_as_the_model_exported(kind, tmp_path):
    model = trained(kind)
    np.savez(tmp_path / "m.npz", allow_pickle=False, **exported.arrays_of(model, WORDS))
    found = exported.read(tmp_path / "m.npz")
    again = found.model()
    batch = Minibatch.concatenate([planted_batch(60, seed=1), Minibatch([0, 0], [], [])])
    np.testing.assert_allclose(again.infer(batch), model.infer(batch), atol=1e-4)
    np.testing.assert_allclose(again.topics(), model.topics(), rtol=1e-5)
    np.testing.assert_allclose(again.topic_weights(), model.topic_weights(), rtol=1e-5)
    assert (type(again), list(found.vocabulary)) == (type(model), WORDS)


def test_words_that_no_topic_has_are_inferred_all_the_same(arrays, tmp_path):
    arrays["topic_word"] = np.eye(5, 40)
    batch = Minibatch([0, 1, 3], [39, 0, 20], [2, 1, 1])
    for kind in kinds.names():
        arrays["kind"] = np.array(kind)
        np.savez(tmp_path / "m.npz", **arrays)
        model = exported.read(tmp_path / "m.npz").model()
        theta = model.infer(batch)
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
        assert theta[1].argmax() == 0


ONES = np.ones(5)
EYE = np.eye(5, 40)
BAD = {
    "topic_word": [EYE * 2, EYE / 2, EYE * np.nan, ONES, np.ones((5, 0)), EYE.astype(int)],
    "alpha": [0 * ONES, -ONES, ONES * np.inf, ONES[:4], np.array(["a"] * 5)],
    "vocabulary": [
        np.array(WORDS[1:]),
        np.arange(40),
        np.array(WORDS, object),
        np.array(["a"] * 40),
    ],
    "topic_share": [ONES, ONES * np.nan, ONES[:, None] / 5],
    "topic_weight": [0 * ONES, ONES * np.nan, ONES * 1e300],
    "kind": [np.array(["lda"]), np.array(3), np.array("nothing\nsuch")],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name, bad in BAD.items() for i in range(len(bad))]
)
def test_each_array_is_checked(arrays, tmp_path, name, number):
    arrays[name] = BAD[name][number]
    np.savez(tmp_path / "m.npz", **arrays)
    said = rf"m\.npz .*: {name} must|m\.npz .*: Object arrays|nothing.* is not a kind of model"
    with pytest.raises(ValueError, match=said) as caught:
        exported.read(tmp_path / "m.npz").model()
    assert isinstance(caught.value, ExportError)
    assert "\n" not in str(caught.value)


def test_what_is_no_export_is_refused_in_one_line(arrays, tmp_path, monkeypatch):
    path = tmp_path / "m.npz"
    np.savez(path, **arrays)
    whole = path.read_bytes()

    def refused(content, says="is not what"):
        path.write_bytes(content)
        with pytest.raises(ExportError, match=says) as caught:
            exported.read(path)
        assert "\n" not in str(caught.value)

    of_another_type = whole.replace(b"NUMPY", b"PYNUM")
    for content in (b"", b"some text", whole[:-100], whole[:1000], of_another_type):
        refused(content)
    for header in (
        b"{'descr': '<f8', 'shape': (3,",
        b"{1: 2, 'descr': 3}",
        b"{'descr': ()}",
        b"[]",
    ):
        odd = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
        contents = {**dict.fromkeys(arrays, b"hello"), "alpha": odd}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in contents.items():
                archive.writestr(f"{name}.npy", content)
        refused(path.read_bytes())
    np.savez(path, **trained("lda").state())
    refused(path.read_bytes(), "topic_word is missing")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("topic_word.npy", bytes(2**20))
    monkeypatch.setattr(exported, "PLENTY", 2**19)
    refused(path.read_bytes(), "unpacks")
    with pytest.raises(ExportError, match="not a regular file"):
        exported.read(os.devnull)
    with pytest.raises(FileNotFoundError):
        exported.read(tmp_path / "none")


def test_learning_from_it_is_refused_with_what_to_use(arrays):
    with pytest.raises(StateError, match=r"wikitopics\.open\(SESSION\)\.model\(\)"):
        OnlineLDA.from_state(arrays)


def test_a_kind_that_cannot_do_it_says_what_to_use(arrays, tmp_path, monkeypatch):
    monkeypatch.setattr(OnlineLDA, "with_topics", classmethod(OnlineModel.with_topics.__func__))
    np.savez(tmp_path / "m.npz", **arrays)
    found = exported.read(tmp_path / "m.npz")
    with pytest.raises(ExportError, match=r"online LDA.*wikitopics\.open"):
        found.model()
