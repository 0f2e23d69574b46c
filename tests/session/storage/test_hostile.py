"""Titles are whatever a wiki says: they reach file, terminal and exports harmlessly."""

import contextlib
import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.commands import ACTS
from tests.session.rows import documents
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.stream import Stream

TITLES = [
    "\x1b[2J\x1b]0;owned\x07",
    "two\nlines\r\nand\x0bmore",
    "[bold]loud[/bold] [/x] [link=http://evil]",
    "\u202egnp.exe\u2066",
    '=HYPERLINK("http://evil")',
    "+1",
    "-1",
    "@SUM(A1)",
    "＝1+1",
    "\t=1",
    "\r=1",
    "\n=1",
    "A\r=cmd|' /C calc'!A0",
    "a;=cmd|' /C calc'!A0",
    " =1+1",
    "\u00a0\u3000＝1",
    'b; "=1"',
    "c\t-1",
    "d\n@x",
    "e, =f",
    "1;2-3",
    "x =y",
    "'; DROP TABLE articles; --",
    "../../etc/passwd",
    "nul\0byte",
    'comma, "quote"',
    "",
    " ",
    "%s {0} %(x)s",
    "雪だるま ☃ 😀",
    "x" * 3000,
    "\x9b31m",
    "\u2028\u2029\x85",
]
CALLED = [title or f"document {2**40 + 2 + i}" for i, title in enumerate(TITLES)]
"""What has no title is called by its number."""


@pytest.fixture
def hostile(corpus, new_session, home):
    path = new_session(
        home / "default.db",
        corpus,
        model=("lda:topics=3,batch_size=64",),
        held_out=2,
    )
    n = len(TITLES) + 2
    titles = "held \x1b[31m", "=held", *TITLES
    more = {"titles": titles, "position": {"document": n}, "lap": 0.5}
    block = replace(documents(*range(2**40, 2**40 + n)), revision_ids=np.full(n, 2**50), **more)
    with contextlib.closing(SessionWriter(path)) as store:
        trainer = Stream(store, article_limit=None, threads=1)
        trainer.feed(block)
        trainer.end_of_source()
        trainer.step(lambda: 1.0)
        trainer.commit(1.0, 1)
    return path


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_nothing_acts_on_the_terminal(cli, hostile):
    for topic in range(3):
        assert not ACTS.search(cli.ok("articles", "--topic", topic, "--limit", 100).out)


def test_json_has_every_title_whole(cli, hostile):
    rows = json.loads(cli("export", "articles", "--format", "json").out)
    assert [row["title"] for row in rows] == CALLED
    about = [
        json.loads(cli("articles", "--topic", k, "--limit", 99, "--json").out) for k in range(3)
    ]
    assert sorted(row["title"] for found in about for row in found) == sorted(CALLED)
    assert all(row["page_id"] > 2**40 for row in rows)
    assert all(row["revision_id"] == 2**50 for row in rows)


def test_csv_disarms_formulas_and_nothing_else(cli, hostile, tmp_path):
    cli.ok("export", "articles", "-o", tmp_path / "a.csv")
    rows = read_csv((tmp_path / "a.csv").read_bytes().decode())
    begins = re.compile(r"[\t\r\n]|\s*[=+\-@＝]")
    expected = ["'" + title if begins.match(title) else title for title in CALLED]
    within = {
        "A\r=cmd|' /C calc'!A0": "A\r'=cmd|' /C calc'!A0",
        "a;=cmd|' /C calc'!A0": "a;'=cmd|' /C calc'!A0",
        'b; "=1"': 'b;\' "=1"',
        "c\t-1": "c\t'-1",
        "'; DROP TABLE articles; --": "'; DROP TABLE articles;' --",
        "d\n@x": "d\n'@x",
        "e, =f": "e,' =f",
        "\t=1": "'\t'=1",
        "\r=1": "'\r'=1",
        "\n=1": "'\n'=1",
    }
    expected = [within.get(title, after) for title, after in zip(CALLED, expected, strict=True)]
    assert [row["title"] for row in rows] == expected
    assert list(rows[0]) == [
        "page_id",
        "title",
        "revision_id",
        "words",
        "model",
        "topic",
        "proportion",
        "topic_name",
        "topic_area",
    ]


def test_all_adds_the_role_and_the_rest(cli, hostile):
    rows = read_csv(cli("export", "articles", "--all").out)
    assert list(rows[0])[-3:] == ["role", "topic_name", "topic_area"]
    assert [row["role"] for row in rows].count("held_out") == 2
    assert len(rows) == len(TITLES) + 2
    assert (rows[1]["title"], rows[0]["topic"]) == ("'=held", "")


def test_titles_are_found_as_text(hostile):
    with SessionReader(hostile) as reader:
        for text in ("%", "_", "DROP TABLE", "\\", "☃", "[/x]"):
            found = [article.title for article in reader.find_articles(text, 100)]
            assert sorted(found) == sorted(
                t for t in ["held \x1b[31m", "=held", *TITLES] if text in t
            ), text
