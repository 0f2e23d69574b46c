"""What `export model` writes for other programs, loaded by them: gensim, and pyLDAvis's page in a
browser."""

import itertools
import json
import shutil
import sys

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import wikitopics as wt
from tests.corpora import SMALL
from wikitopics.model import Minibatch
from wikitopics.session.analysis.formats import underscored
from wikitopics.session.analysis.ldavis import ldavis
from wikitopics.session.storage.reader import SessionReader

KINDS = ("lda", "scvb0", "hdp")
HOW_FAR = 0.25
"""Mean distance between gensim's proportions and ours, half of the absolute differences: what the
methods differ by in documents of real articles (decision 0021)."""


@pytest.fixture(scope="session")
def three_once(corpus, made_once):
    from wikitopics.cli import run

    def train(folder):
        models = ["--model=lda:topics=5", "--model=scvb0:topics=5", "--model=hdp:topics=12"]
        options = [
            *corpus.options(),
            *models,
            *SMALL,
            "--passes=3",
            "--session",
            str(folder / "three.db"),
        ]
        assert run(["train", *options]) == 0

    return made_once("three", train) / "three.db"


@pytest.fixture
def three(three_once, home):
    """The session `default` of an LDA, a SCVB0 and an HDP, finished."""
    home.mkdir(exist_ok=True)
    return shutil.copy(three_once, home / "default.db")


@pytest.fixture
def documents(corpus):
    """The first hundred, as a minibatch and as gensim takes them."""
    batch = Minibatch(corpus.indptr, corpus.word_ids, corpus.numbers)[:100]
    pairs = list(zip(batch.word_ids.tolist(), batch.counts.tolist(), strict=True))
    bags = [pairs[start:end] for start, end in itertools.pairwise(batch.indptr)]
    return batch, bags


def test_words_that_would_become_one_and_topics_without_any():
    assert underscored(["new york", "river"]) == ["new_york", "river"]
    assert underscored(["new york", "new_york"]) == ["new york", "new_york"]
    found = ldavis(np.full((2, 3), 1 / 3), np.array([1.0, 0.0]), ["a", "b", "c"], tokens=30)
    assert found["mdsDat"]["Freq"] == [100.0, 0.0]
    assert np.isfinite(found["tinfo"]["loglift"]).all()


@pytest.mark.interop
@pytest.mark.parametrize("kind", KINDS)
def test_gensim_has_the_same_topics_and_infers_alike(kind, cli, three, tmp_path, corpus, documents):
    gensim = pytest.importorskip("gensim.models")
    batch, bags = documents
    folder = tmp_path / "gensim"
    outcome = cli("export", "model", "--model", kind, "--format", "gensim", "-o", folder)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"wrote {folder}\n")
    loaded = gensim.LdaModel.load(str(folder / "model"))
    model = wt.open(three).model(kind)
    assert [loaded.id2word[i] for i in range(60)] == list(corpus.words)
    np.testing.assert_allclose(loaded.get_topics(), model.topics(), atol=1e-6)
    lambda_ = loaded.state.get_lambda()
    np.testing.assert_allclose(lambda_.sum(axis=1), model.topic_weights(), rtol=1e-6)
    np.testing.assert_allclose(loaded.alpha, model.document_prior(), rtol=1e-6)
    assert loaded.eta.min() == pytest.approx(lambda_.min())
    gamma, _ = loaded.inference(bags)
    theta = gamma / gamma.sum(axis=1, keepdims=True)
    distances = np.abs(theta - model.infer(batch)).sum(axis=1) / 2
    assert distances.mean() < HOW_FAR


@pytest.mark.interop
def test_gensim_goes_on_by_small_steps(cli, three, tmp_path, documents):
    gensim = pytest.importorskip("gensim.models")
    assert cli("export", "model", "--format", "gensim", "-o", tmp_path / "g").code == 0
    loaded = gensim.LdaModel.load(str(tmp_path / "g" / "model"))
    topics_before = loaded.get_topics()
    weight_before = loaded.state.get_lambda().sum()
    _, bags = documents
    loaded.update(bags, eval_every=None)
    distances = np.abs(loaded.get_topics() - topics_before).sum(axis=1) / 2
    assert 0 < distances.max() < 0.5
    # New articles stand for as many words as lambda does, so its sum stays.
    assert loaded.state.get_lambda().sum() == pytest.approx(weight_before, rel=0.05)


@pytest.mark.interop
def test_an_export_to_gensim_replaces_its_own_folder_only(cli, three, tmp_path, one_line):
    pytest.importorskip("gensim")
    folder = tmp_path / "gensim"
    export = ["export", "model", "--format", "gensim", "-o"]
    for _ in range(2):
        assert cli(*export, folder).code == 0
        assert {"model", "model.state", "model.id2word"} <= {path.name for path in folder.iterdir()}
    one_line(cli(*export, three), 2, "holds a session")
    one_line(cli(*export, tmp_path / "none" / "gensim"), 1, "no such file or folder")
    one_line(cli("export", "model", "--format", "gensim"), 2, "name a folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gensim", "home"]


@pytest.mark.interop
@pytest.mark.parametrize("kind", KINDS)
def test_ldavis_is_what_pyldavis_makes_of_the_same_topics(kind, cli, three):
    pyldavis = pytest.importorskip("pyLDAvis")
    pcoa = pytest.importorskip("pyLDAvis._prepare")._pcoa
    ours = json.loads(cli("export", "model", "--model", kind, "--format", "ldavis").out)
    session = wt.open(three)
    model = session.model(kind)
    words = session.vocabulary().words
    with SessionReader(three) as reader:
        tokens = int(reader.word_counts().counts.sum())
    topics = model.topics().astype(float)
    shares = model.topic_shares()[None]

    def hellinger(beta):
        return pcoa(squareform(pdist(np.sqrt(beta))) / np.sqrt(2))

    prepared = pyldavis.prepare(
        topics,
        shares,
        [tokens],
        list(words),
        np.ones(60),
        mds=hellinger,
        n_jobs=1,
    )
    theirs = json.loads(prepared.to_json())
    assert list(ours) == list(theirs)
    for axis in "xy":  # which way an axis points means nothing
        our_places = np.array(ours["mdsDat"].pop(axis))
        their_places = np.array(theirs["mdsDat"].pop(axis))
        direction = np.sign(our_places @ their_places)
        np.testing.assert_allclose(our_places * direction, their_places, atol=1e-6)
    for name, table in theirs.items():
        if not isinstance(table, dict) or name == "plot.opts":
            assert ours[name] == table
            continue
        assert list(ours[name]) == [column for column in table if column not in "xy"]
        for column, values in ours[name].items():
            if isinstance(values[0], str):
                assert values == table[column]
            else:
                np.testing.assert_allclose(values, table[column], rtol=1e-5, atol=1e-4)


def test_axes_are_real_numbers_also_of_topics_that_are_alike():
    from wikitopics.model.distances import classical_scaling

    for beta in (
        np.full((7, 9), 1 / 9),
        np.eye(3, 9) * 0.9 + 0.1 / 9,
        np.full((1, 9), 1 / 9),
        np.eye(2),
    ):
        distances = squareform(pdist(np.sqrt(beta))) / np.sqrt(2)
        assert np.array_equal(distances, distances.T)
        found = classical_scaling(distances)
        assert found.shape == (len(beta), 2)
        assert np.isrealobj(found)
        assert np.isfinite(found).all()


def test_before_the_first_minibatch_there_is_nothing_to_write(
    cli,
    new_session,
    home,
    corpus,
    one_line,
):
    new_session(home / "default.db", corpus)
    for form in ("npz", "ldavis"):
        one_line(cli("export", "model", "--format", form, "-o", home / "out"), 1, "no topics yet")
    one_line(cli("infer", corpus.vocabulary), 1, "no topics yet")
    one_line(cli("topics", "rename", 0, "mine"), 1, "no topics yet")
    assert [path.name for path in home.iterdir()] == ["default.db"]


def test_without_gensim_one_line_says_what_to_install(
    cli,
    trained,
    tmp_path,
    monkeypatch,
    one_line,
):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    monkeypatch.setitem(sys.modules, "gensim.corpora", None)
    outcome = cli("export", "model", "--format", "gensim", "-o", tmp_path / "g")
    one_line(outcome, 2, "gensim needs gensim: ", "-m pip install 'wikitopics[interop]'")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
