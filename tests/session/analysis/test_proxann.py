"""The files that ProxAnn reads, by its own description of them: theta, beta, vocabulary, texts and
a configuration."""

import json
from configparser import ConfigParser

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.wikitopics.in_python.learning import HELD_OUT, TEXTS, TRAINED, learn
from wikitopics.session.analysis import proxann
from wikitopics.session.storage import recorded
from wikitopics.session.storage.reader import SessionReader


@pytest.fixture
def own(trainers_run_here, home):
    return learn(session="default", passes=1, replicas=0, seeds={"one": ["rivera", "riverb"]})


def loaded(folder):
    """What ProxAnn loads by a configuration, as it does: (settings, theta, beta, words, texts)."""
    configuration = ConfigParser()
    configuration.read(folder / "proxann.conf")
    (model,) = [name for name in configuration.sections() if name != "all"]
    files = configuration[model]
    assert not files.getboolean("trained_with_thetas_eval")
    with open(files["vocab_path"], encoding="utf-8") as file:
        columns = json.load(file)
    corpus = pd.read_json(files["corpus_path"], lines=True)
    theta = np.load(files["thetas_path"])
    beta = np.load(files["betas_path"])
    return {**configuration["all"], **files}, theta, beta, columns, corpus


def test_rows_and_columns_of_all_files_belong_together(own, cli, tmp_path):
    own.hide(1)
    folder = tmp_path / "of 100%-proxann"
    assert cli("export", "proxann", "-o", folder).code == 0
    settings, theta, beta, columns, corpus = loaded(folder)
    model = own.model()
    assert np.array_equal(beta, model.topics().astype(np.float32))
    assert list(columns.items()) == [(word, n) for n, word in enumerate(own.vocabulary().words)]
    assert theta.shape == (TRAINED, 3) == (len(corpus), len(beta))
    assert theta.sum(axis=1) == pytest.approx(1, abs=1e-6)
    places = corpus["id"].to_numpy() - 1
    texts = [TEXTS[place] for place in places]
    assert corpus["text"].tolist() == texts
    assert np.abs(theta - own.infer(texts)).max() < 0.02
    for tokens, text in zip(corpus["tokenized_text"], texts, strict=True):
        assert sorted(tokens.split()) == sorted(word for word in text.split() if word in columns)
    assert settings["remove_topic_ids"] == "1"
    assert settings["n_matches"] == "2"
    assert settings["text_column_disp"] == "text"
    assert settings["text_column"] == "tokenized_text"
    assert int(settings["ntop"]) <= TRAINED
    assert settings["method"] == "thetas"
    assert {"top_words_display", "thr", "path_json_save"} <= settings.keys()


def test_held_out_documents_are_included_if_asked_and_a_folder_is_replaced(own, cli, tmp_path):
    folder = tmp_path / "judged-proxann"
    own.export("proxann", folder)
    assert len(loaded(folder)[4]) == TRAINED
    (folder / "proxann.json").write_text("{}")  # what ProxAnn itself writes there
    assert cli("export", "proxann", "--all", "-o", folder).code == 0
    assert len(loaded(folder)[4]) == TRAINED + HELD_OUT
    (folder / "mine.txt").write_text("")
    with pytest.raises(wt.SessionError, match="holds other files"):
        own.export("proxann", folder)


def test_words_are_read_with_the_documents_that_have_them(own, tmp_path, monkeypatch):
    own.export("proxann", tmp_path / "whole-proxann")
    *_, corpus = loaded(tmp_path / "whole-proxann")
    read = []
    read_block = SessionReader.counted_documents

    def counted(reader, number, articles):
        read.append(articles)
        return read_block(reader, number, articles)

    monkeypatch.setattr(SessionReader, "counted_documents", counted)
    monkeypatch.setattr(recorded, "READ_TOGETHER", 1)  # a block, which is a minibatch
    read_before = []
    read_snippets = SessionReader.snippets_of

    def snippets(reader, seqs):
        read_before.append(sum(read))
        return read_snippets(reader, seqs)

    monkeypatch.setattr(SessionReader, "snippets_of", snippets)
    own.export("proxann", tmp_path / "parts-proxann")
    *_, in_parts = loaded(tmp_path / "parts-proxann")
    assert in_parts.equals(corpus)
    assert len(read) > 1
    assert sum(read) == TRAINED
    assert read_before == [sum(read[:part]) for part in range(len(read))]


def test_words_of_documents_of_one_row_are_read_with_each_part_that_has_some(own):
    with SessionReader(own.path) as reader:
        tokens = proxann._Tokens(reader, reader.vocabulary())
        (first, articles), *_ = reader.counted_rows()
        whole = tokens.between(first, first + articles - 1)
        assert len(whole) == articles > 1
        for seq, words in whole.items():
            assert tokens.between(seq, seq)[seq] == words


def test_phrases_are_one_token_in_the_texts_and_in_the_vocabulary(
    trainers_run_here, home, tmp_path
):
    tokens = [
        [*text.split(), "New York"] if n % 9 == 0 else text.split() for n, text in enumerate(TEXTS)
    ]
    session = learn(tokens, session="default", passes=1, replicas=0)
    session.export("proxann", tmp_path / "p-proxann", "proxann")
    *_, columns, corpus = loaded(tmp_path / "p-proxann")
    assert "New_York" in columns
    with_it = corpus["tokenized_text"].str.split().map(lambda tokens: "New_York" in tokens)
    assert with_it.tolist() == [(page - 1) % 9 == 0 for page in corpus["id"]]


def test_a_session_without_texts_or_with_few_is_refused(
    trainers_run_here, home, trained, cli, one_line, tmp_path, monkeypatch
):
    one_line(
        cli("export", "proxann", "-o", tmp_path / "x"),
        1,
        "this session keeps none: sessions of your own texts",
    )
    one_line(cli("export", "proxann"), 2, "proxann writes several files: name a folder")
    session = learn(session="none", passes=1, replicas=0, snippets=False)
    with pytest.raises(wt.SessionError, match="begun without"):
        session.export("proxann", tmp_path / "x")
    few = learn(session="few", passes=1, replicas=0)
    monkeypatch.setattr(proxann, "DOCUMENTS_SHOWN", TRAINED)
    with pytest.raises(wt.SessionError, match="only 108 documents have topics and a text"):
        few.export("proxann", tmp_path / "x")
    assert not (tmp_path / "x").exists()
