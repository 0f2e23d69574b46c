"""People's own documents all the way: from the files to committed articles and back out."""

import csv
import gzip
import json
import os
import shutil
import signal

import pytest

from tests.session.training.own_texts import (
    MODEL,
    WORDS,
    end_after_a_commit,
    over_few_words,
    stream_of,
    text,
    write,
)
from wikitopics.crawler.texts.kinds import Texts


@pytest.fixture
def docs(tmp_path):
    """400 documents, each with its number as page id, in three kinds of files."""
    first = write(tmp_path / "a.jsonl", 1, 300)
    with (tmp_path / "b.csv").open("w", newline="", encoding="utf-8-sig") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["id", "body"])
        rows.writerows([f"doc/{i}", text(i)] for i in range(300, 380))
    (tmp_path / "c").mkdir()
    for i in range(380, 401):
        (tmp_path / "c" / f"{i}.txt").write_text(text(i))
    paths = (first, tmp_path / "b.csv", tmp_path / "c")
    files = (word for path in paths for word in ("--texts", str(path)))
    return ("--source", "texts", *files, "--text-column", "body", "--passes", "1")


def test_every_document_once_with_its_id_also_when_the_run_is_resumed(cli, docs):
    assert cli("train", *docs, *MODEL, "--articles", "100").code == cli("train", *docs).code == 0
    status = cli.json("status")
    assert (status["source"], status["articles"], status["held_out"]) == ("texts", 360, 40)
    assert (status["crawled"], status["skipped"], status["pending"]) == (400, 0, 0)
    rows = cli.rows("articles", "--all")
    assert sorted(row["page_id"] for row in rows) == list(range(1, 401))
    by_number = {row["page_id"]: row for row in rows}
    assert [by_number[i]["title"] for i in (1, 300, 400)] == ["T1", "doc/300", "400.txt"]
    assert [by_number[i]["id"] for i in (1, 300, 400)] == ["doc/1", "doc/300", ""]
    header = "page_id,title,revision_id,words,model,topic,proportion"
    some = cli("export", "articles")
    all_ = cli("export", "articles", "--all")
    assert some.out.startswith(f"{header},id,topic_name,topic_area\n")
    assert all_.out.startswith(f"{header},role,id,topic_name,topic_area\n")
    left_out = f"{status['held_out']} held-out documents left out; --all writes them\n"
    assert (some.err, all_.err) == (left_out, "")
    about = [row for k in range(3) for row in cli.json("articles", "--topic", k)]
    assert about
    assert {row["id"] for row in about} <= {f"doc/{i}" for i in range(1, 380)} | {""}


def many_records(folder):
    path = write(folder / "many.jsonl", 1, 2000)
    with path.open("a") as file:
        file.write("nope\n" + json.dumps({"id": "doc/7", "text": text(7)}) + "\n")
    return (path,)


def many_parts(folder):
    path = folder / "many.txt.gz"
    path.write_bytes(
        gzip.compress("".join(f"{text(i)}\n\n\n{text(-i)}\n\n" for i in range(1000)).encode())
    )
    return (path,)


def many_lines(folder):
    path = folder / "many.txt"
    path.write_text("".join(f"{text(i)}\n" for i in range(2000)))
    return path, "--lines"


@pytest.mark.long
@pytest.mark.parametrize("many", [many_records, many_parts, many_lines])
def test_kills_and_stops_leave_the_same_stream(
    cli, counted_here, spawn_resting, home, tmp_path, many
):
    model = over_few_words(tmp_path)
    options = ("--source", "texts", "--texts", *many(tmp_path), *model, "--articles", "1650")
    assert cli("train", "--session", "whole", *options).code == 0
    for end, rests in ((signal.SIGTERM, 800), (signal.SIGKILL, 1500)):
        with spawn_resting(rests, "train", "--session", "killed", *options) as trainer:
            end_after_a_commit(trainer, home / "killed.db", end)
    assert cli("train", "--session", "killed", *options).code == 0
    assert stream_of(home / "killed.db") == stream_of(home / "whole.db")


def test_bad_records_are_named_and_counted_by_reason(cli, counted_here, tmp_path):
    path = write(tmp_path / "a.jsonl", 1, 100)
    with path.open("ab") as file:
        file.write(b'nope\n{"text": "\xe9"}\n{"title": "x"}\n{"id": "doc/3", "text": "river"}\n')
    outcome = cli.ok("train", "--source", "texts", "--texts", path, "--passes", 1, *MODEL)
    for line, why in enumerate(
        ("not JSON", "not UTF-8", "no text", "the id 'doc/3' is a duplicate"), 100
    ):
        assert f"{path}, line {line}: {why}" in outcome.err
    shown = cli("status").out
    for reason in ("not JSON 1", "not UTF-8 1", "no text 1", "repeated 1"):
        assert reason in shown
    status = cli.json("status")
    assert status["crawled"] == status["articles"] + status["held_out"] + status["skipped"] == 103


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--texts PATH"),
        (("--texts", "absent"), "no such file or folder"),
        (("--texts", "a.jsonl", "--dump", "b.xml"), "--dump and --texts name different sources"),
        (
            ("--texts", "a", "--text-column", "b", "--counts", "c"),
            "--texts and --counts name different",
        ),
        (("--counts", "c"), "--counts needs --source counts, not texts"),
        (("--texts", "a.jsonl", "--id-column", "ref"), "--id-column: 'id', 'title', 'text'"),
        (("--texts", "a.jsonl", "--lang", "German"), "give the code of a language"),
        (("--texts", "a.jsonl", "--rpm", "9"), "leave it out"),
        (
            ("--texts", "a.jsonl", "--markup", "xml"),
            "'--markup': must be one of wikitext, html, not 'xml'",
        ),
    ],
)
def test_wrong_usage_is_one_line(cli, one_line, tmp_path, monkeypatch, home, arguments, says):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", 1, 3)
    one_line(cli("train", "--source", "texts", *arguments), 2, says)
    assert not (home / "default.db").exists()


def test_another_path_and_a_changed_file_are_refused(cli, counted_here, one_line, tmp_path):
    path = write(tmp_path / "a.jsonl", 1, 200)
    options = ("--source", "texts", "--texts", path)
    assert cli("train", *options, *MODEL, "--articles", "60").code == 0
    other = write(tmp_path / "b.jsonl", 1, 200)
    one_line(
        cli("train", "--texts", other), 2, f"--texts {other}: this session was made with {path};"
    )
    changed = cli("train", *options, "--text-column", "body")
    one_line(changed, 2, "--text-column body: this session was made with")
    one_line(
        cli("train", "--id-column", "title"),
        2,
        "--id-column title: this session was made without it",
    )
    write(path, 1, 201)
    os.utime(path, (2e9, 2e9))
    outcome = cli("train")
    assert outcome.code == 2
    assert f"wikitopics: {path} has changed since this session began" in outcome.err


@pytest.fixture
def notes(tmp_path):
    """60 documents, of two lines each."""
    rare = ["seldom written"] + [""] * 9
    parts = [f"{text(i)}\n{text(-i)} {rare[i % 10]}" for i in range(60)]
    (tmp_path / "notes.txt").write_text("\n\n".join(parts))
    return tmp_path / "notes.txt"


@pytest.mark.parametrize(("more", "documents"), [((), 60), (("--lines",), 120)])
def test_a_plain_text_is_parted_and_goes_on_as_it_began(
    cli, counted_here, one_line, notes, more, documents
):
    options = ("--texts", notes, *more, "--passes", 1, *MODEL)
    assert cli("train", *options, "--articles", 32).code == 0
    assert cli("train", "--texts", notes).code == 0
    rows = cli.rows("articles", "--all")
    assert sorted(row["page_id"] for row in rows) == list(range(1, documents + 1))
    begins = {text(i).split()[0] for i in range(-60, 60)}
    assert all(row["title"].split()[0] in begins and len(row["title"]) <= 61 for row in rows)
    if more:
        assert cli("train", "--lines").code == 0
    else:
        one_line(cli("train", "--lines"), 2, "--lines: this session was made without it")
    assert cli("train", *options, "--session", "whole").code == 0
    whole = cli.rows("articles", "--all", "--session", "whole")
    read = [
        [(row["page_id"], row["title"], row["words"]) for row in some] for some in (whole, rows)
    ]
    assert read[0] == read[1]


def test_a_session_of_1_1_0_reads_texts_and_keys_as_it_began(
    cli,
    counted_here,
    one_line,
    notes,
    tmp_path,
    monkeypatch,
):
    path = write(tmp_path / "a.jsonl", 1, 100)
    options = ("--texts", path, "--texts", notes, "--text-column", "body", "--passes", 1, *MODEL)
    with monkeypatch.context() as older:
        identity = Texts.identity
        older.setattr(
            Texts, "identity", lambda *of: {k: v for k, v in identity(*of).items() if k != "lines"}
        )
        assert cli("train", *options, "--articles", 32).code == 0
    assert cli("train", *options).code == 0
    rows = cli.rows("articles", "--all")
    assert len(rows) == 100
    assert [row["words"] for row in rows if row["title"] == "notes.txt"] == [2406]
    one_line(cli("train", "--lines"), 2, "--lines: this session was made without it")
    one_line(
        cli("train", *options, "--session", "new"),
        2,
        "there is no key 'body'",
        "'id', 'title', 'text'",
    )


@pytest.mark.parametrize(
    ("lines", "more", "says"),
    [
        (["one"], (), "only one document to train on, and at least two are needed"),
        (
            ["one", "two"],
            (),
            "Blank lines separate the documents of a plain text; with --lines each line is one",
        ),
        (["one", ""], ("--lines",), "only one document"),
        (
            ["one", "", "two", "", "\x00"],
            ("--held-out", 1),
            "(of 2; held out: 1), and at least two",
        ),
        (["one", "", "two"], ("--held-out", 9), "no document to train on (of 2; held out: 2)"),
        (["one", "", "two"], ("--held-out", 1), "Give more, or hold out fewer"),
    ],
)
def test_two_documents_are_the_fewest(cli, one_line, tmp_path, home, lines, more, says):
    (tmp_path / "a.txt").write_text("\n".join(line and f"{text(1)} {line}" for line in lines))
    told = f"a.txt: {says}" if "doc" in says[:17] else says
    one_line(cli("train", "--texts", tmp_path / "a.txt", *more), 2, told)
    assert not (home / "default.db").exists()


def test_two_documents_with_known_words_are_the_fewest(cli, counted_here, tmp_path, home):
    (tmp_path / "words.txt").write_text("river\nmountain\n")
    path = tmp_path / "a.txt"
    path.write_text("a river\n\nnothing\n\nnothing at all\n")
    outcome = cli("train", "--texts", path, "--vocab", tmp_path / "words.txt", "--passes", 4)
    assert outcome.code == 2
    told = (
        "only one document to train on (of 3; skipped: no known word 2), and at least two are "
        "needed"
    )
    assert f"wikitopics: a.txt: {told}" in outcome.err
    assert "saved" not in outcome.err
    assert "separate" not in outcome.err, "how texts are divided is not what is wrong"
    assert not list(home.glob("*.db*[!k]"))
    path.write_text("a river\n\na mountain\n")
    assert cli("train", "--texts", path, "--vocab", tmp_path / "words.txt").code == 0


def test_a_vocabulary_and_a_session_part_texts_in_the_same_way(cli, one_line, tmp_path, notes):
    (tmp_path / "c").mkdir()
    for name in ("d.txt", "d.md", "c/e.txt"):
        (tmp_path / name).write_bytes(notes.read_bytes())
    out = tmp_path / "words.txt"
    found = {"d.txt": 60, "d.txt --lines": 120, "d.md": 60, "d.md --lines": 120, "c --lines": 120}
    for words, documents in found.items():
        path, *more = words.split()
        assert (
            f"from {documents} documents"
            in cli("vocab", "build", tmp_path / path, *more, "-o", out).err
        )
    (tmp_path / "one.txt").write_text(text(1))
    for path, says in (
        ("one.txt", "needed. A usable word occurs in at least 2 documents"),
        (
            "one.txt",
            "Blank lines separate the documents of a plain text; with --lines each line is one",
        ),
        ("c", "With --lines each line is one; each .txt of a folder is a document"),
        ("one.txt --lines", "Each line of a plain text is a document"),
    ):
        words = [tmp_path / path.split()[0], *path.split()[1:]]
        one_line(cli("vocab", "build", *words, "-o", out), 2, "too little text: 1 document", says)


def test_a_plain_text_of_another_name_is_prose_too_and_must_be_there(cli, tmp_path, one_line):
    out = tmp_path / "words.txt"
    for name in ("a.txt", "a.md"):
        (tmp_path / name).write_text("co\u00adoperate river\n\n" * 9 + "a mountain\n\n" * 50)
        assert cli("vocab", "build", tmp_path / name, "-o", out).code == 0
        assert "cooperate" in out.read_text().split()
    outcome = cli("vocab", "build", tmp_path / "none.md", "-o", tmp_path / "words.txt")
    one_line(outcome, 2, "none.md: no such file or folder\n")


def test_a_vocabulary_is_built_of_a_pipe(cli, tmp_path, notes):
    read, write = os.pipe()
    with os.fdopen(write, "wb") as pipe:
        pipe.write(notes.read_bytes())
    try:
        outcome = cli("vocab", "build", f"/dev/fd/{read}", "-o", tmp_path / "words.txt")
    finally:
        os.close(read)
    assert "from 60 documents" in outcome.err


def test_a_vocabulary_is_built_of_the_same_files(cli, tmp_path):
    first = write(tmp_path / "a.jsonl", 1, 100)
    with first.open("a") as file:
        file.write("nope\n" + json.dumps({"id": "doc/3", "text": text(3)}) + "\n")
    (tmp_path / "b.csv").write_text("id,body\n" + "".join(f"{i},{text(i)}\n" for i in range(50)))
    (tmp_path / "c").mkdir()
    for i in range(20):
        (tmp_path / "c" / f"{i}.txt").write_text(f"{text(i)}\n\none document, blank lines or not\n")
    (tmp_path / "d.txt").write_text("\n\n".join(text(i) for i in range(30)))
    out = tmp_path / "words.txt"
    paths = (first, tmp_path / "b.csv", tmp_path / "c", tmp_path / "d.txt")
    outcome = cli.ok("vocab", "build", *paths, "--text-column", "body", "-o", out)
    assert "from 200 documents" in outcome.err, "also one that repeats an id"
    assert f"{first}, line 100: not JSON; skipped" in outcome.err
    assert "duplicate" not in outcome.err
    rule, *words = out.read_text().splitlines()
    assert rule == "# rule 2 en"
    assert set(words) <= {*WORDS, "one", "document", "blank", "lines"}


def test_a_table_without_a_header_and_with_odd_rows(cli, counted_here, one_line, tmp_path, home):
    table = tmp_path / "a.csv"
    lines = [f"{number},{text(number)}\n" for number in range(1, 61)]
    lines[3] = f"4,{text(4)}, {text(5)}\n"
    table.write_text("".join(lines))
    how = ("--no-header", "--text-column", "2")
    told = (
        "1 row has more cells than the table has columns (line 4); what is too much is read as "
        "part of the"
    )
    built = cli.ok("vocab", "build", table, *how, "--max-df", "1.0", "-o", tmp_path / "words.txt")
    assert "from 60 documents" in built.err
    assert told in built.err
    more = ("--id-column", "1", "--vocab", tmp_path / "words.txt", "--passes", 1, *MODEL)
    one_line(cli("train", "--texts", table, *more), 2, "or give --no-header if it has no header")
    assert not (home / "default.db").exists()
    outcome = cli.ok("train", "--texts", table, *how, *more)
    assert outcome.err.count(told) == 1
    rows = {row["id"]: row["words"] for row in cli.rows("articles", "--all")}
    assert set(rows) == {str(number) for number in range(1, 61)}
    assert rows["4"] == 2 * rows["5"]


def test_markup_is_told_and_removed_where_it_is_named(cli, counted_here, one_line, tmp_path):
    path = tmp_path / "pages.jsonl"
    words = tmp_path / "words.txt"
    pages = [f'<div class="x"><p>{text(i)}</p><pre>river</pre></div>' for i in range(60)]
    pages += [f"plain {'and more' if i % 9 == 0 else ''}" for i in range(340)]
    path.write_text("".join(json.dumps({"text": page}) + "\n" for page in pages))
    told = "60 of the first 200 texts contain HTML (<p>)"
    assert told in cli("vocab", "build", path, "-o", words).err
    assert "class" in words.read_text()
    outcome = cli("vocab", "build", path, "--markup", "html", "-o", words)
    assert told not in outcome.err
    assert "class" not in words.read_text()
    (tmp_path / "plain.txt").write_text("\n\n".join(pages))
    assert told in cli("vocab", "build", tmp_path / "plain.txt", "-o", tmp_path / "plain").err
    cli.ok("vocab", "build", tmp_path / "plain.txt", "--markup", "html", "-o", tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == words.read_bytes()

    options = ("--texts", path, "--vocab", words, *MODEL)
    assert told in cli("train", "--session", "tags", *options).err
    outcome = cli("train", "--session", "prose", *options, "--markup", "html", "--articles", "50")
    assert told not in outcome.err
    assert cli("train", "--session", "prose").code == 0
    asked = "articles", "--all", "--session"
    counted = [sum(row["words"] for row in cli.rows(*asked, name)) for name in ("tags", "prose")]
    assert counted[0] == counted[1] + 60, "the word in <pre> of each"

    assert "river" in set(words.read_text().split())
    (tmp_path / "one.html").write_text("<p>river</p><p>river</p><pre>river</pre>")
    asked = ("infer", tmp_path / "one.html", "--json", "--session")
    for more, found in ((("prose",), 2), (("tags",), 3), (("tags", "--markup", "html"), 2)):
        assert json.loads(cli(*asked, *more).out)[0]["known"] == found
    one_line(cli(*asked, "tags", "--markup", "x"), 2, "must be one of wikitext, html")


def test_a_wiki_names_its_markup_itself(cli, one_line, tmp_path):
    one_line(
        cli("train", "--source", "api", "--markup", "html"),
        2,
        "--markup needs --source texts, not api",
    )
    out = tmp_path / "words.txt"
    wrong = "--markup is only for files"
    one_line(cli("vocab", "build", "--lang", "de", "--markup", "html", "-o", out), 2, wrong)


def test_counts_kept_of_documents_bring_their_ids_along(cli, counted_here, tmp_path, home):
    path = write(tmp_path / "a.jsonl", 1, 100)
    cli.ok(
        "train",
        "--source",
        "texts",
        "--texts",
        path,
        *MODEL,
        "--keep-counts",
        "--session",
        "first",
    )
    counts = ("--source", "counts", "--counts", home / "first.db")
    assert cli("train", *counts, *MODEL, "--session", "second").code == 0
    kept = {row[3]: row[1] for row in stream_of(home / "second.db")[0]}
    assert kept == {f"doc/{i}": i for i in range(1, 100)}


def test_a_document_that_was_skipped_may_be_added_under_its_id(cli, counted_here, tmp_path):
    first = write(tmp_path / "a.jsonl", 1, 60)
    with first.open("a") as file:
        file.write(json.dumps({"id": "doc/60", "text": "xyzzy"}) + "\n")
    cli.ok("train", "--source", "texts", "--texts", first, *MODEL)
    assert cli.json("status")["skips"] == {"no known word": 1}
    second = write(tmp_path / "b.jsonl", 60, 62)
    cli.ok("train", "--session", "default", "--texts", second)
    of_60 = [row for row in cli.rows("articles", "--all") if row["id"] == "doc/60"]
    assert sorted(row["role"] for row in of_60) == ["skipped", "trained"]


def test_one_added_document_is_told_as_one(cli, counted_here, tmp_path):
    path = write(tmp_path / "a.jsonl", 1, 61)
    cli.ok("train", "--source", "texts", "--texts", path, "--passes", 1, *MODEL)
    one = write(tmp_path / "b.jsonl", 61, 62)
    told = cli.ok("train", "--session", "default", "--texts", one).err
    assert told.startswith("b.jsonl (1 document): training lda (")


def test_added_documents_are_learnt_once_and_known_ids_skipped(
    cli, counted_here, one_line, tmp_path
):
    path = write(tmp_path / "a.jsonl", 1, 201)
    cli.ok("train", "--source", "texts", "--texts", path, "--passes", 2, *MODEL)
    first = cli.json("status")
    curve = cli("export", "metrics").out
    more = write(tmp_path / "b.jsonl", 191, 241)
    told = cli.ok("train", "--session", "default", "--texts", more).err
    assert told.startswith("b.jsonl (50 documents): training lda ("), "not the first file"
    assert "passes" not in told
    assert "adding the documents of b.jsonl" in told
    now = cli.json("status")
    assert now["articles"] == first["articles"] + 40
    assert (now["held_out"], now["skips"]) == (first["held_out"], {"already in the session": 10})
    assert "passes     2; added documents are read once" in cli("status").out
    assert cli("export", "metrics").out.startswith(curve)
    ids = {row["page_id"]: row["id"] for row in cli.rows("articles", "--all")}
    assert (len(ids), ids[200], ids[211], ids[250]) == (240, "doc/200", "doc/201", "doc/240")
    one_line(cli("train", "--texts", path), 2, f"--texts {path}: this session has already read it")
    html = "--texts", write(tmp_path / "c.jsonl", 300, 310), "--markup", "html"
    one_line(cli("train", *html), 2, "--markup html: this session was made without it")
    cli.ok("train", "--session", "none", "--texts", path, *MODEL, "--keep-articles", "none")
    one_line(cli("train", "--session", "none", "--texts", more), 2, "none), so none can be added")


@pytest.mark.long
def test_kills_while_documents_are_added_leave_the_same_stream(
    cli, counted_here, spawn_resting, home, tmp_path
):
    path = write(tmp_path / "a.jsonl", 1, 400)
    more = write(tmp_path / "b.jsonl", 300, 2000)
    first = ("--source", "texts", "--texts", path, "--passes", 2)
    cli.ok("train", "--session", "whole", *first, *over_few_words(tmp_path))
    shutil.copy(home / "whole.db", home / "killed.db")
    cli.ok("train", "--session", "whole", "--texts", more)
    for rests, words in ((1100, ("--texts", more)), (1900, ())):
        with spawn_resting(rests, "train", "--session", "killed", *words) as trainer:
            end_after_a_commit(trainer, home / "killed.db", signal.SIGKILL)
    assert cli("train", "--session", "killed", "--texts", more).code == 0
    assert stream_of(home / "killed.db") == stream_of(home / "whole.db")
