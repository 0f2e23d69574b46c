"""The articles most like another one or a text, and the exports that belong to it."""

import csv
import io
import json
import os
import pickle
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import load_npz

import wikitopics as wt
from wikitopics.model.lda import OnlineLDA
from wikitopics.session.analysis.answers import Answers
from wikitopics.session.analysis.similar import not_found
from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.storage.reader import SessionReader


@pytest.fixture(scope="module")
def kept(tmp_path_factory, corpus):
    """A session over titled texts, each of one of five subjects, which its title names."""
    from wikitopics.cli import run

    folder = tmp_path_factory.mktemp("titled")
    random = np.random.default_rng(0)
    lines = []
    for number in range(400):
        subject = number % 5
        words = random.choice(corpus.words[12 * subject : 12 * subject + 12], 30)
        lines.append(
            json.dumps({"title": f"Subject {subject} / {number}", "text": " ".join(words)})
        )
    (folder / "texts.jsonl").write_text("\n".join(lines))
    made = [
        "--texts",
        folder / "texts.jsonl",
        "--vocab",
        corpus.vocabulary,
        "--held-out",
        20,
        "--topics",
        5,
    ]
    more = ["--batch-size", 64, "--session", folder / "titled.db"]
    assert run(["train", "--source", "texts", *map(str, made + more)]) == 0
    return folder / "titled.db"


@pytest.fixture
def titled(kept, home):
    home.mkdir()
    return Path(shutil.copy(kept, home / "default.db"))


def csv_of(cli, what):
    return list(csv.DictReader(io.StringIO(cli("export", what).out)))


def subjects(titles):
    return {title.split()[1] for title in titles}


def test_articles_like_another_one(cli, titled):
    outcome = cli("similar", "Subject 3 / 203", "--limit", 5)
    assert outcome.err == "as of 1,900 document reads\n"
    header, *lines = outcome.out.splitlines()
    assert header.split() == ["likeness", "page_id", "title"]
    assert subjects(line.split(None, 2)[2] for line in lines) == {"3"}
    found = cli.json("similar", "sUBJECT 3 / 203", "--limit", 5)
    assert [line.split(None, 2)[2] for line in lines] == [
        f"{one['title']}  {one['snippet']}" for one in found
    ]
    assert list(found[0]) == ["page_id", "title", "likeness", "id", "snippet", "distance"]
    assert "Subject 3 / 203" not in [one["title"] for one in found]
    likeness = [one["likeness"] for one in found]
    assert likeness == sorted(likeness, reverse=True)
    assert [one["distance"] for one in found] == [1 - one for one in likeness]


def test_articles_like_a_text(cli, titled, corpus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("subject 3 ").mkdir()
    (tmp_path / "subject 3 " / " 203").write_text(" ".join(corpus.words[12:24]))
    found = cli.json("similar", "subject", "3", "/", "203", "--limit", 5)
    assert subjects(one["title"] for one in found) == {"1"}, (
        "a file goes before a title in other capitals"
    )


def test_words_find_topics_and_titles(cli, titled, corpus):
    words = corpus.words[12:14]
    outcome = cli.ok("find", *words, "--limit", 5)
    topics, documents = outcome.out.split("\n\n")
    assert topics.splitlines()[0].split() == ["topic", "times", "name", "words"]
    assert subjects(line.split(None, 2)[2] for line in documents.splitlines()[1::2]) == {"1"}
    assert "\x1b" not in outcome.out
    found = cli.json("find", *words, "--limit", 5)
    assert list(found) == ["words", "topics", "documents"]
    assert found["words"] == " ".join(words)
    assert set(found["topics"][0]["words"]) == set(words)
    assert all(set(one["words"]) == set(words) for one in found["documents"])
    session = wt.open().find(" ".join(words), 5)
    assert [one.title for one in session.documents] == [one["title"] for one in found["documents"]]
    by_title = cli.json("find", "3 / 203")["documents"]
    assert by_title[0]["title"] == "Subject 3 / 203"


def test_words_found_are_bold_on_a_terminal(cli, titled, monkeypatch):
    monkeypatch.setattr("wikitopics.session.escapes.obeys", lambda _: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1mSubject\x1b[22m 3 / \x1b[1m203\x1b[22m" in cli("find", "203 subject").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in cli("find", "203 subject").out


def test_words_that_find_nothing_are_one_line(cli, titled, one_line):
    one_line(cli("find", "xyzzyq"), 1, "nothing was found for 'xyzzyq'")
    one_line(cli("find", "Subjekt"), 1, "; did you mean 'subject'?")
    one_line(cli("find", " "), 2, "give the words")
    one_line(cli("find"), 2, "find --help")
    one_line(cli("find", "Subject", "--model", "hdp"), 2, "hdp")
    one_line(cli("find", "Subject", "--session", "none"), 1, "no session")


def test_what_it_cannot_answer_is_one_line(cli, titled, tmp_path, one_line):
    one_line(
        cli("similar", "Subject 3 / 2003"),
        1,
        "no trained document is called",
        "'Subject 3 / 203'",
    )
    one_line(
        cli("similar", "Sxbjecx 3 / 23"), 1, "; did you mean 'Subject 3 / 23'?"
    )  # half of it is right
    one_line(cli("similar", "%"), 1, "no trained document is called")
    one_line(cli("similar", os.fsdecode(b"\xff")), 1, "no trained document is called")
    one_line(cli("similar", tmp_path / "missing.txt"), 1, "missing.txt', and there is no such file")
    (tmp_path / "empty").write_text("")
    one_line(cli("similar", tmp_path / "empty"), 1, "no word")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 9)
    one_line(cli("similar", tmp_path / "binary"), 1, "binary")
    one_line(cli("similar", "Subject 3 / 203", "--model", "hdp"), 2, "hdp")


def test_of_titles_that_differ_in_case_only_one_is_told_with_its_own_reason():
    found = [ArticleRow(1, 1, "Rust", 0, 9, "skipped"), ArticleRow(2, 2, "RUST", 0, 9, "held_out")]

    def told(rows, source):
        settings = SimpleNamespace(source=source)
        reader = SimpleNamespace(resembling=lambda _: rows, settings=lambda: settings)
        return str(not_found(reader, "rust"))

    assert told(found, "api") == "'Rust' was skipped: its topic proportions are not recorded"
    assert "'RUST' was held out, not trained on" in told(found[1:], "api")
    assert "it gets topic proportions when training ends" in told(found[1:], "texts")


def test_a_session_without_topics_or_proportions_says_so(cli, corpus, new_session, home, one_line):
    new_session(home / "default.db", corpus)
    one_line(cli("similar", "x"), 1, "no topics yet")
    new_session(home / "few.db", corpus, keep_articles="top")
    one_line(cli("similar", "x", "--session", "few"), 1, "not recorded", "--keep-articles all")


def test_python_has_the_same_and_every_other_article_can_be_asked_for(cli, titled):
    session = wt.open()
    found = session.similar("Subject 3 / 203", 5)
    shown = cli.json("similar", "Subject 3 / 203", "--limit", 5)
    assert [one.title for one in found] == [one["title"] for one in shown]
    assert pickle.loads(pickle.dumps(session)).similar("Subject 3 / 203", 5) == found
    matrix, page_ids = session.proportions()
    assert (matrix.shape, matrix.dtype) == ((380, 5), np.float32)
    assert len(set(page_ids.tolist())) == 380
    with pytest.raises(wt.SessionError, match=r"is called 'Subject 9'(;|$)"):
        session.similar("Subject 9")
    with pytest.raises(wt.SessionError, match=r"is called 'Subject x{247}'$"):
        session.similar("Subject " + "x" * 10**6)
    with pytest.raises(TypeError, match=r"limit must be a whole number, not 2\.5"):
        session.similar("Subject 3 / 203", 2.5)
    # However many others have the same proportions.
    titles = {article.title for article in session.articles(limit=400)}
    found = [one.title for one in session.similar("Subject 3 / 203", 400)]
    assert len(found) == 399
    assert set(found) == titles - {"Subject 3 / 203"}


def test_proportions_are_exported_as_rows_and_as_a_matrix(cli, titled, tmp_path):
    outcome = cli("export", "proportions", "--format", "npz", "-o", tmp_path / "p.npz")
    assert (outcome.code, outcome.err) == (0, f"wrote {tmp_path / 'p.npz'}\n")
    matrix = load_npz(tmp_path / "p.npz")
    page_ids = np.load(tmp_path / "p.npz")["page_ids"]
    rows = csv_of(cli, "proportions")
    assert list(rows[0]) == ["page_id", "title", "model", "topic", "proportion", "id", "role"]
    assert cli.rows("proportions")[0]["title"] == rows[0]["title"]
    rows = [row for row in rows if row["role"] == "trained"]
    assert [int(row["page_id"]) for row in rows] == np.repeat(
        page_ids, np.diff(matrix.indptr)
    ).tolist()
    assert [int(row["topic"]) for row in rows] == matrix.indices.tolist()
    np.testing.assert_allclose([float(row["proportion"]) for row in rows], matrix.data, atol=1e-6)
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    assert (sums <= 1 + 1e-6).all()
    assert sums.mean() > 0.95
    largest = {int(r["page_id"]): r for r in csv_of(cli, "articles")}
    for place, page_id in enumerate(page_ids.tolist()):
        topic = int(largest[page_id]["topic"])
        share = float(largest[page_id]["proportion"])
        assert matrix[place, topic] == pytest.approx(share, abs=0.008)


def test_word_counts_are_those_of_the_trained_articles(cli, trained, corpus):
    rows = cli.rows("words")
    articles = {row["page_id"] for row in cli.rows("articles")}
    counts = dict.fromkeys(corpus.words, 0)
    documents = dict.fromkeys(corpus.words, 0)
    for number in articles:
        for at in range(*corpus.indptr[number : number + 2]):
            counts[corpus.words[corpus.word_ids[at]]] += int(corpus.numbers[at])
            documents[corpus.words[corpus.word_ids[at]]] += 1
    expected = {word: (counts[word], documents[word]) for word in corpus.words}
    assert {row["word"]: (row["count"], row["articles"]) for row in rows} == expected
    assert [row["count"] for row in rows] == sorted(counts.values(), reverse=True)


def test_held_out_documents_of_ones_own_get_topics_at_the_end(cli, titled, tmp_path):
    session = wt.open()
    there = {article.title: article for article in session.articles(limit=400)}
    held_out = [title for title, article in there.items() if article.role == "held_out"]
    assert len(held_out) == 20
    assert all(there[title].topic is not None for title in held_out)
    subject = held_out[0].split()[1]
    assert subjects(one.title for one in session.similar(held_out[0], 5)) == {subject}
    about = [one.title for one in session.articles(topic=there[held_out[0]].topic, limit=400)]
    assert about
    assert not set(about) & set(held_out)

    trained, known = session.proportions()
    both, page_ids = session.proportions(held_out=True)
    assert (trained.shape, both.shape) == ((380, 5), (400, 5))
    others = ~np.isin(page_ids, known)
    assert set(page_ids[others].tolist()) == {there[title].page_id for title in held_out}
    assert (
        cli("export", "proportions", "--all", "--format", "npz", "-o", tmp_path / "p.npz").code == 0
    )
    assert (load_npz(tmp_path / "p.npz") != both).nnz == 0
    roles = {int(row["page_id"]): row["role"] for row in csv_of(cli, "proportions")}
    expected = np.where(others, "held_out", "trained").tolist()
    assert [roles[page_id] for page_id in page_ids.tolist()] == expected


def test_those_topics_are_taken_away_when_the_session_goes_on(cli, kept, home, corpus):
    """The proportions are what the finished model says of the documents."""
    texts = [json.loads(line) for line in (kept.parent / "texts.jsonl").read_text().splitlines()]
    text_of = {one["title"]: one["text"] for one in texts}
    home.mkdir()
    made = (
        "train",
        "--source",
        "texts",
        "--texts",
        kept.parent / "texts.jsonl",
        "--model",
        "hdp:topics=8",
    )
    more = ("--vocab", corpus.vocabulary, "--held-out", 20)

    def held_out():
        return {
            one.title: one.topic for one in wt.open().articles(limit=400) if one.role == "held_out"
        }

    for limit in (128, 256):
        assert cli(*made, *more, "--articles", limit).code == 0
        _, page_ids = wt.open().proportions(held_out=True)
        assert len(page_ids) == limit + 20
        inferred = wt.open().infer([text_of[title] for title in held_out()])
        assert inferred.argmax(axis=1).tolist() == list(held_out().values())
    assert cli(*made, *more, "--hours", 1e-9).code == 0  # it goes on, and is stopped
    assert wt.open().proportions(held_out=True)[0].shape[0] == wt.open().status().articles
    assert set(held_out().values()) == {None}


def test_answers_say_which_words_argue_for_a_topic_as_far_as_words_are_kept(titled, corpus):
    with SessionReader(titled) as reader:
        answers = Answers(reader, "lda")
        answer = answers.of_text(" ".join([*corpus.words[12:24], "xyzzy"]))
        assert answer.known == "12 of 13 words known"
        assert set(answer.topics[0][2]) == set(corpus.words[12:24])
        session = wt.open()
        text = " ".join(corpus.words[12:24])
        assert session.infer([text])[0].argmax() == answer.topics[0][0]
        found = session.find(f"{text} xyzzy", 20).documents
        assert [one.score for one in found] == [score for _, score, _ in answer.alike[:20]]
        long = " ".join([text] * 3)
        like = session.similar(text=long)
        assert [one.likeness for one in like] == [
            likeness for _, likeness, _ in answers.of_text(long).alike[: len(like)]
        ]
        unknown = answers.of_text("xyzzy 203")
        assert unknown.lack == "none of its words is in the session's vocabulary"
        assert [article.title for article, _, _ in unknown.alike] == ["Subject 3 / 203"]
        rows = {row.role: row for row in reader.recent_articles(1000)}
        for row in rows.values():
            answer = answers.of_article(row)
            subject = int(row.title.split()[1])
            assert set(answer.topics[0][2]) <= set(corpus.words[12 * subject : 12 * subject + 12])
            assert row.title not in [one.title for one, _, _ in answer.alike]
    with sqlite3.connect(titled) as db:
        for table in ("recent", "kept_counts", "blocks"):
            db.execute(f"DELETE FROM {table}")
    with SessionReader(titled) as reader:
        answer = Answers(reader, "lda").of_article(rows["trained"])
        assert [topic for topic, *_ in answer.topics] == [rows["trained"].topics[0][1]]
        assert "--keep-counts" in answer.lack
        assert answer.lone
        none = replace(rows["trained"], topics=(("lda", 0, 0.0),))
        assert not Answers(reader, "lda").of_article(none).topics


def test_answers_hold_until_the_session_has_changed(titled):
    with SessionReader(titled) as reader:
        answers = Answers(reader, "lda")
        now = reader.progress().committed_at
        assert answers.still_hold(reader, "lda", now)
        assert not answers.still_hold(reader, "lda", now + 1)
        assert not answers.still_hold(reader, "other", now)
        assert answers.still_hold(reader, "lda", now - 1)
    with sqlite3.connect(titled) as db:
        db.execute("UPDATE progress SET committed_at = 4e10")
    with SessionReader(titled) as reader:  # the clock was set back after that commit
        assert not Answers(reader, "lda").still_hold(reader, "lda", now)


@pytest.mark.parametrize("method", ["infer", "topic_rows", "from_state"])
def test_a_model_of_another_package_may_raise_anything(titled, corpus, monkeypatch, method):
    monkeypatch.setattr(OnlineLDA, method, lambda *_: {}["none"])
    with SessionReader(titled) as reader, pytest.raises(SessionError, match=r"model .*lda.*'none'"):
        Answers(reader, "lda").of_text(corpus.words[12])
