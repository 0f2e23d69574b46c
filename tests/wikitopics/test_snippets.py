"""The beginnings of the user's own documents, wherever documents are shown, and where they are
not: in what is handed on."""

import base64
import contextlib
import json
import re
import sqlite3
import warnings
import zlib
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.map_pages import unpacked
from tests.session.rows import kept_snippets
from tests.wikitopics.in_python.learning import TEXTS, WORDS, learn
from wikitopics.session.analysis.exports import TABLES
from wikitopics.session.storage.reader import SessionReader, backup

HOSTILE = "<script>alert(1)</script>\x1b]0;owned\x07\u202e</textarea><img src=x>=1+1 [b]"
MARK = "unseen"
"""In every text, and in no vocabulary: what has it has a piece of text."""


def texts():
    """Documents whose beginnings differ, and are in no topic."""
    return [f"{MARK}{number:03} {HOSTILE} {text}" for number, text in enumerate(TEXTS)]


def make(path, *, snippets):
    """Make a session of the texts. Its snippets are written into the file as a stranger might: what is
    read from texts has lost some signs by then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there seems to be markup
        learn(texts(), session=path, vocabulary=WORDS)
    with SessionReader(path) as reader:
        page_of = {row.seq: row.page_id for row in reader.recent_articles(len(TEXTS))}
        assert len(kept_snippets(reader)) == len(page_of) == len(TEXTS)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM snippets")
        for seq, page in page_of.items():
            data = zlib.compress(texts()[page - 1].encode())
            if snippets:
                db.execute("INSERT INTO snippets VALUES (?, 1, ?)", [seq, data])
        db.commit()


@pytest.fixture
def session(made_once, trainers_run_here):
    """A session of a list, whose titles are only numbers; nobody may write to it."""
    folder = made_once("snippets", lambda folder: make(folder / "notes.db", snippets=True))
    return wt.open(folder / "notes.db")


@pytest.fixture
def without(made_once, trainers_run_here):
    """The same without snippets."""
    folder = made_once("no snippets", lambda folder: make(folder / "notes.db", snippets=False))
    return wt.open(folder / "notes.db")


def text_of(document):
    """The text of a document by its title."""
    return texts()[int(document.removeprefix("text ")) - 1]


def test_documents_about_a_topic_say_why_they_are_first(session, cli):
    for topic in session.topics():
        listed = session.articles(topic=topic.number)
        typical = [article.typicality for article in listed]
        assert typical == sorted(typical, reverse=True)
        for article in listed:
            text = text_of(article.title)
            assert article.snippet == text
            assert article.called.startswith(f"{MARK}{article.page_id - 1:03}")
            assert set(article.topic_words) <= set(topic.shown)
            assert {word[:-1] for word in article.topic_words} == {text.split()[-1][:-1]}
        told = cli.json("articles", "--topic", topic.number, "--session", session.path)
        assert [one["snippet"] for one in told] == [article.snippet for article in listed]
        assert [tuple(one["topic_words"]) for one in told] == [one.topic_words for one in listed]
        lines = cli("articles", "--topic", topic.number, "--session", session.path).out
        assert lines.replace("\n", "").isprintable()
        for line, article in zip(lines.splitlines()[1:], listed, strict=True):
            assert f"  {article.title}  [{' '.join(article.topic_words)}]  {MARK}" in line


def test_the_newest_documents_and_like_ones_have_them_too(session, cli):
    assert all(article.snippet.startswith(MARK) for article in session.articles(limit=100))
    near = session.similar("text 1", limit=3)
    assert all(one.snippet == text_of(one.title) for one in near)
    told = cli.json("similar", "text 1", "--limit", 3, "--session", session.path)
    assert [one["snippet"] for one in told] == [one.snippet for one in near]
    assert f"  {near[0].title}  {MARK}" in cli("similar", "text 1", "--session", session.path).out


def test_what_is_found_is_printed_by_how_it_begins(session, without):
    word = texts()[0].split()[-1]
    found = session.find(word)
    assert found.documents
    for document in found.documents:
        assert f"<'{text_of(document.title)[:9]}" in repr(document)
        assert repr(document) in repr(found)
    assert all(one.title in repr(one) for one in without.find(word).documents)


def test_the_table_of_documents_has_them_and_can_be_joined(session, without):
    found = session.documents()
    assert list(found.columns)[-2:] == ["area_name", "snippet"]
    assert found["snippet"].tolist() == texts()
    own = pd.DataFrame({"title": texts()}, index=found.index)
    assert "snippet" in own.join(found).columns
    titled = session.documents(titles=True)
    assert titled["title"].tolist() == [f"text {number}" for number in range(1, len(TEXTS) + 1)]
    assert "snippet" not in without.documents().columns
    columns = found.columns.drop("snippet")
    pd.testing.assert_frame_equal(without.documents()[columns], found[columns])


def test_lists_of_topics_call_a_document_without_a_title_by_how_it_begins(session, without, cli):
    for topic in session.topics():
        assert all(re.fullmatch(r"text \d+", title) for title in topic.titles)
        assert [text_of(title)[:9] for title in topic.titles] == [
            called[:9] for called in topic.called
        ]
    assert f"{MARK}0" in cli("topics", "--session", session.path).out
    for topic in without.topics():
        assert topic.called == topic.titles


@pytest.mark.interop
def test_a_notebook_calls_a_document_without_a_title_by_how_it_begins(session):
    pytest.importorskip("jinja2")
    assert f"{MARK}0" in session.topics()._repr_html_()


def everything_in(data):
    """The text of a file, with that of the map in a page."""
    text = data.decode(errors="replace")
    for packed in re.findall(r'id=(?:"|&#34;|&quot;)packed[^>]*?(?:>|&gt;)([\w+/=]+)', text):
        text += zlib.decompress(base64.b64decode(packed)).decode(errors="replace")
    return text


@pytest.mark.parametrize("table", sorted(set(TABLES) - {"proxann"}))  # which is made of them
def test_no_export_has_any_unless_asked(session, tmp_path, table):
    need_more = ("gensim", "parquet", "png")
    formats = [form for form in TABLES[table].formats if form not in need_more]
    for form in formats:
        session.export(table, tmp_path / "any", form)
        assert MARK not in everything_in((tmp_path / "any").read_bytes())


def test_exports_have_them_when_asked(session, cli, tmp_path, one_line):
    expected = dict(enumerate(texts(), start=1))
    for table in ("articles", "map"):
        rows = cli.rows(table, "--session", session.path, "--snippets")
        assert list(rows[0])[-1] == "snippet"
        for row in rows:
            assert row["snippet"] == expected[row["page_id"]]
        assert "snippet" not in cli.rows(table, "--session", session.path)[0]
        session.export(table, tmp_path / f"{table}.json", snippets=True)
        assert json.loads((tmp_path / f"{table}.json").read_text()) == rows
        session.export(table, tmp_path / f"{table}.csv", snippets=True)
        found = pd.read_csv(tmp_path / f"{table}.csv")["snippet"]
        assert found.tolist() == [row["snippet"] for row in rows]
    page = tmp_path / "map.html"
    cli.ok("export", "map", "--snippets", "--session", session.path, "-o", page)
    _, of_page = unpacked(page.read_text())
    assert len(of_page["snippets"]) == len(rows)
    assert all(snippet.startswith(MARK) for snippet in of_page["snippets"] + of_page["titles"])
    refused = cli("export", "topics", "--snippets", "--session", session.path)
    one_line(refused, 2, "`export articles` and `export map`")
    refused = cli("export", "map", "--format", "svg", "--snippets", "--session", session.path)
    one_line(refused, 2, "no snippets")
    with pytest.raises(ValueError, match=r"snippets: topics"):
        session.export("topics", tmp_path / "x.csv", snippets=True)


@pytest.mark.parametrize("options", [("csv", "--bom"), ("json",), ("html",)])
def test_what_is_not_kept_cannot_be_exported(without, cli, one_line, options):
    for table in ("articles", "map"):
        form, *more = options
        if form in TABLES[table].formats:
            asked = cli(
                "export", table, "--snippets", "--session", without.path, "--format", form, *more
            )
            one_line(asked, 2, "keeps no snippets")


@pytest.mark.interop
def test_the_report_has_them_escaped_unless_they_are_left_out(session, cli, tmp_path):
    pytest.importorskip("jinja2")
    page = tmp_path / "page.html"
    told = cli.ok("report", "--session", session.path, "-o", page).err
    assert "`report --no-snippets` leaves them out" in told
    text = page.read_text()
    assert f"{MARK}0" in text
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b]0;owned\\x07\\u202e" in text
    assert not any(sign in text for sign in "\x1b\x07\u202e")
    told = cli.ok("report", "--no-snippets", "--session", session.path, "-o", page).err
    assert "snippets" not in told
    assert MARK not in everything_in(page.read_bytes())
    assert "text 1" in page.read_text()
    session.report(page, snippets=False)
    assert MARK not in everything_in(page.read_bytes())
    session.report(page)
    assert MARK in everything_in(page.read_bytes())


def test_a_notebook_s_map_has_them_and_a_saved_one_if_asked(session, tmp_path):
    places = session.map()
    assert "snippet" not in places.columns
    assert MARK in everything_in(places._repr_html_().encode())
    for more, has_any in (({}, False), ({"snippets": True}, True)):
        places.save(tmp_path / "map.html", **more)
        assert (MARK in everything_in((tmp_path / "map.html").read_bytes())) == has_any


def test_a_command_that_names_topics_gets_them(session, without, cli, tmp_path):
    for number, learnt in enumerate((session, without)):
        backup(learnt.path, tmp_path / f"{number}.db")  # a copy has them, too
        asked = tmp_path / f"{number}.jsonl"
        told = cli(
            "topics", "name", "--command", f"cat >> {asked}", "--session", tmp_path / f"{number}.db"
        )
        assert told.code == 0
        for line in asked.read_text().splitlines():
            question = json.loads(line)
            if learnt is without:
                assert question["snippets"] == []
            else:
                expected = [text_of(title) for title in question["titles"]]
                assert question["snippets"] == expected


def test_a_colour_may_lack_documents_of_the_map(trainers_run_here, tmp_path):
    ids = [f"n{number}" for number in range(len(TEXTS))]
    session = learn(session=tmp_path / "ids.db", ids=ids)
    values = pd.Series(np.arange(len(ids)), index=ids)
    session.map(color=values)
    for some in (values.where(values < 5), values[:5]):
        with pytest.warns(UserWarning, match="color: 115 of 120 documents have no value"):
            session.map(color=some)


def test_a_session_without_snippets_has_nothing_of_a_text_at_any_time(tmp_path):
    marked = [f"{MARK} {text}" for text in TEXTS]
    session = learn(marked, session=tmp_path / "n.db", vocabulary=WORDS, snippets=False)
    learn(marked[:60], session=session.path, add=True, ids=range(200, 260), snippets=False)
    file = session.path.read_bytes()
    assert MARK.encode() not in file
    packed = [place for place in range(len(file)) if file.startswith(b"\x78", place)]
    beginnings = []
    for place in packed:
        with contextlib.suppress(zlib.error):  # no such stream begins here
            unpacker = zlib.decompressobj()
            beginnings.append(unpacker.decompress(file[place : place + 4096], 4096))
    assert not any(MARK.encode() in beginning for beginning in beginnings)
