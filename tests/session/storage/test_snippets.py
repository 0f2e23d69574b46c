"""The beginnings of the user's own documents, as a session keeps them."""

import json
import sqlite3
import zlib
from contextlib import closing

import pytest

from tests.session.rows import kept_snippets
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import LONGEST_SNIPPET
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.snippets import snippet_of

MODEL = ("--topics", "2", "--passes", "2")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("  One\nline,\r\n and\u2028another ", "One line, and another"),
        ("x" * 1000, "x" * LONGEST_SNIPPET),
        ("\n" * 5000 + "word", "word"),
        ("a" + " " * 5000 + "b", "a"),
        ("x" * (LONGEST_SNIPPET - 1) + " y", "x" * (LONGEST_SNIPPET - 1)),
    ],
)
def test_a_snippet_is_the_beginning_in_one_line(text, kept):
    assert snippet_of(text) == kept


def texts(number):
    return f"Text {number}:\n the <b>river</b> and mountain of \ud800 valley {number % 7}. " * 20


@pytest.fixture
def train(cli, tmp_path, home):
    """Trains a session of 300 documents in markup, of which one has no known word."""

    def make(*options):
        file = tmp_path / "many.jsonl"
        lines = [json.dumps({"text": texts(number), "title": "T"}) for number in range(299)]
        lines.append(json.dumps({"text": "Zzz qqq.", "title": "T"}))
        file.write_text("\n".join(lines))
        words = tmp_path / "words.txt"
        words.write_text("river\nmountain\nvalley\n")
        source = ("--source", "texts", "--texts", file, "--vocab", words, "--markup", "html")
        assert cli("train", *map(str, source), *MODEL, *options).code == 0
        return home / "default.db"

    return make


@pytest.fixture
def trained(train, counted_here):
    return train


def test_documents_keep_their_beginnings_without_markup_whatever_their_role(train, one_worker):
    path = train("--held-out", "20")
    expected = {number + 1: snippet_of(texts(number)) for number in range(299)}
    assert expected[1].startswith("Text 0: the <b>river</b>")
    with SessionReader(path) as reader:
        assert reader.has_snippets()
        page_of = {article.seq: article.page_id for article in reader.recent_articles(400)}
        kept = {page_of[seq]: snippet for seq, snippet in kept_snippets(reader).items()}
        assert reader.snippets(page_of) == kept_snippets(reader)
        assert reader.snippets([]) == {}
        assert reader.snippets([10**9]) == {}
    assert kept.pop(300) == "Zzz qqq."
    without_markup = {
        page: text.replace("<b>", "").replace("</b>", "") for page, text in expected.items()
    }
    assert set(kept) == set(without_markup)
    for page, snippet in kept.items():
        plain = without_markup[page].replace("\ud800", "\ufffd")
        assert snippet.startswith(plain[:250])
        assert len(snippet) <= LONGEST_SNIPPET


@pytest.mark.parametrize(
    "options",
    [("--no-snippets",), ("--keep-articles", "top"), ("--keep-articles", "none")],
)
def test_nothing_is_kept_unless_all_articles_are(trained, options):
    with SessionReader(trained(*options)) as reader:
        assert not reader.has_snippets()
        assert not kept_snippets(reader)
        assert reader.snippets(range(1, 10)) == {}
    assert b"river and" not in _texts_in(reader.path)


def test_counts_are_kept_without_texts(trained):
    """Word counts go into other sessions, and are read without the table of snippets."""
    path = trained()
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM snippets")
        db.commit()
        db.execute("VACUUM")
    assert b"river and" not in _texts_in(path)


def _texts_in(path):
    """All text of a session's columns, and what its archives hold."""
    with closing(sqlite3.connect(path)) as db:
        found = [b""]
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            if table == "vocabulary":
                continue
            for row in db.execute(f"SELECT * FROM {table}"):
                found += [_unpacked(value) for value in row if isinstance(value, str | bytes)]
    return b"\n".join(found)


def _unpacked(value):
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    found = [value]
    start = 0
    while (start := value.find(b"PK\3\4", start)) >= 0:  # members of an archive
        name_length = int.from_bytes(value[start + 26 : start + 28], "little")
        extra_length = int.from_bytes(value[start + 28 : start + 30], "little")
        content = value[start + 30 + name_length + extra_length :]
        try:
            found.append(zlib.decompressobj(-15).decompress(content))
        except zlib.error:
            found.append(content)
        start += 4
    return b"\n".join(found)


def test_a_damaged_row_is_refused(trained):
    path = trained()
    giant = zlib.compress(b"a" * 10**8)
    damages = [
        (3, zlib.compress(b"a\nb")),
        (1, zlib.compress(b"a\nb")),
        (2, zlib.compress(b"a" * 400 + b"\nb")),
        (2, giant),
        (10**15, giant),
        (2, zlib.compress(b"\xff\nb")),
        (2, zlib.compress(b"a\nb")[:-3]),
        (2, b"nothing"),
        (2, None),
        (2, "text"),
    ]
    for articles, data in damages:
        with closing(sqlite3.connect(path)) as db:
            db.execute("DELETE FROM snippets")
            db.execute("INSERT INTO snippets VALUES (1, ?, ?)", [articles, data])
            db.commit()
        with SessionReader(path) as reader:
            with pytest.raises(Damaged, match="snippets"):
                reader.snippets([1])
            with pytest.raises(Damaged, match="snippets"):
                kept_snippets(reader)


def test_snippets_of_articles_that_follow_each_other_or_are_far_apart(trained):
    with SessionReader(trained()) as reader:
        seqs = sorted(
            seq for columns in reader.all_articles(trained_only=False) for seq in columns[0]
        )
        for some in (seqs, seqs[60:70], seqs[::3], seqs[::50], [seqs[-1] + 5], []):
            expected = reader.snippets(some)
            assert reader.snippets_of(some) == [expected.get(seq, "") for seq in some]
        texts = list(reader.texts_after(seqs[9]))
        assert [seq for part in texts for seq in part[0]] == seqs[10:]
        assert [snippet for part in texts for snippet in part[3]] == reader.snippets_of(seqs[10:])
