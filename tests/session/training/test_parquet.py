"""Parquet files all the way: from the files to committed documents and back out."""

import gzip
import json
import signal
import sys

import pytest

from tests.clusters import kill
from tests.crawler.dump_server import served
from tests.crawler.dumps import german
from tests.crawler.parquet import in_small_steps, write  # noqa: F401
from tests.session.memory import in_order
from tests.session.rows import kept_snippets
from tests.session.training.own_texts import (
    MODEL,
    end_after_a_commit,
    over_few_words,
    stream_of,
    text,
)
from wikitopics.cli.output import ProgressLine
from wikitopics.crawler.texts.parquet_source import ParquetTexts
from wikitopics.session.storage.reader import SessionReader

pytestmark = pytest.mark.interop
pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional extra")


class Impatient(ProgressLine):
    """Shows each step."""

    def __init__(self):
        super().__init__()
        self._every = 0.0
        self._next = 0.0


def made(numbers):
    numbers = list(numbers)
    return pa.table(
        {
            "id": [f"doc/{number}" for number in numbers],
            "title": [f"T{number}" for number in numbers],
            "Text": [text(number) for number in numbers],
        }
    )


@pytest.fixture
def files(tmp_path, in_small_steps):  # noqa: F811
    """400 documents in a folder, in which a step has few."""
    folder = tmp_path / "texts"
    folder.mkdir()
    write(folder / "a.parquet", made(range(1, 251)), group=30)
    write(folder / "b.parquet", made(range(251, 401)), group=150)
    return folder


def test_every_document_once_with_its_id_also_when_the_run_is_resumed(
    cli, counted_here, files, home
):
    options = ("--texts", files, "--passes", "1", *MODEL)
    cli.ok("train", *options, "--session", "whole")
    cli.ok("train", *options, "--articles", 100)
    cli.ok("train", *options, "--articles", 250)
    cli.ok("train", *options)
    status = cli.json("status")
    assert (status["source"], status["articles"], status["held_out"]) == ("texts", 360, 40)
    assert (status["crawled"], status["skipped"], status["pending"]) == (400, 0, 0)
    rows = {row["page_id"]: row for row in cli.rows("articles", "--all")}
    assert sorted(rows) == list(range(1, 401))
    assert (rows[7]["title"], rows[7]["id"]) == ("T7", "doc/7")
    with SessionReader(home / "default.db") as reader:
        kept = kept_snippets(reader)
    assert set(kept.values()) == {text(number) for number in range(1, 401)}
    assert in_order(home / "default.db") == in_order(home / "whole.db")


def test_passes_and_a_vocabulary_of_their_own(cli, counted_here, files, tmp_path, monkeypatch):
    made_of = pa.table({"text": [german(number) for number in range(600)]})
    german_texts = write(tmp_path / "german.parquet", made_of, group=50)
    options = ("--texts", german_texts, "--lang", "de", "--passes", 2, *MODEL)
    cli.ok("train", *options, "--articles", 700)
    cli.ok("train", *options)
    assert cli.json("status")["articles"] == 1080
    words = tmp_path / "words.txt"
    outcome = cli.ok("vocab", "build", files, "-o", words, "--max-df", 1.0, "--text-column", "Text")
    assert "from 400 documents" in outcome.err
    monkeypatch.setattr("wikitopics.cli.vocab.ProgressLine", Impatient)
    told = cli.ok("vocab", "build", files, "-o", words, "--max-df", 1.0).err.splitlines()
    assert (told[0], told[199]) == ("1 of 400 (0%) documents", "200 of 400 (50%) documents")
    of_lines = tmp_path / "more.txt"
    of_lines.write_text("a river\n\na mountain\n")
    told = cli.ok("vocab", "build", files, of_lines, "-o", words, "--max-df", 1.0).err.splitlines()
    assert (told[0], told[401]) == ("1 documents", "402 documents")
    assert "river" in words.read_text().split()
    path = write(tmp_path / "c.parquet", pa.table({"body": [text(1)] * 50}))
    outcome = cli.ok("vocab", "build", path, "-o", words, "--text-column", "body", "--max-df", 1.0)
    assert "from 50 documents" in outcome.err


def test_each_row_is_inferred(cli, counted_here, one_line, files, tmp_path, monkeypatch):
    cli.ok("train", "--texts", files, "--passes", 1, *MODEL, "--articles", 100)
    rows = cli.json("infer", files)
    assert [row["row"] for row in rows] == list(range(1, 401))
    assert (rows[6]["file"], rows[6]["id"]) == (str(files), "doc/7")
    monkeypatch.setattr("wikitopics.cli.texts._ROWS", 7)
    monkeypatch.setattr("wikitopics.cli.texts.ProgressLine", Impatient)
    outcome = cli.ok("infer", files, "--json")
    assert json.loads(outcome.out) == rows
    first, *_, last = outcome.err.splitlines()
    assert (first, last) == ("7 of 400 (2%) rows inferred", "400 of 400 (100%) rows inferred")
    monkeypatch.setattr("wikitopics.cli.texts.ProgressLine", ProgressLine)
    monkeypatch.setattr("wikitopics.cli.texts._CHARACTERS", 1)
    single = tmp_path / "7.txt"
    single.write_text(text(7))
    (alone,) = cli.json("infer", single)
    assert {key: rows[6][key] for key in ("words", "known", "proportions")} == {
        key: alone[key] for key in ("words", "known", "proportions")
    }
    several = cli.json("infer", files / "b.parquet", files / "a.parquet")
    assert [row["row"] for row in several] == [*range(1, 151), *range(1, 251)]
    assert several[156]["proportions"] == rows[6]["proportions"]

    made_of = pa.table({"body": [text(1), None, text(3)], "key": [10, 20, 30]})
    other = write(tmp_path / "other.parquet", made_of)
    outcome = cli.ok("infer", other, "--text-column", "body", "--id-column", "key")
    assert f"{other}, row 3 (30): " in outcome.out
    assert outcome.err == f"{other}: 1 of 3 rows have no readable text\n"
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps({"text": "water"}))
    both = cli.json("infer", other, lines, "--text-column", "body")
    assert [row["file"] for row in both][-1] == str(lines)
    one_line(cli("infer", other), 2, "Name one with --text-column: 'body'")
    one_line(cli("infer", other, "--text-column", "key"), 2, "does not hold texts")
    one_line(cli("infer", files, single), 2, "give one kind at a time")
    one_line(
        cli("infer", single, "--id-column", "key"), 2, "are for .csv, .tsv, .jsonl and .parquet"
    )
    (tmp_path / "empty").mkdir()
    one_line(cli("infer", tmp_path / "empty"), 1, "a folder, which is no text")
    one_line(cli("infer", tmp_path / "none.parquet"), 2, "no such file")
    one_line(cli("infer", "https://a.org/b.parquet"), 2, "download it first")
    one_line(cli("similar", other), 2, "`infer` gives the topics of each")
    unknown = write(tmp_path / "unknown.parquet", pa.table({"text": ["qqq qqq"]}))
    outcome = cli("infer", unknown)
    assert (outcome.code, outcome.out) == (1, f"{unknown}, row 1: 0 of 2 words known\n")
    assert "contain no word of the session's vocabulary" in outcome.err
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes((files / "a.parquet").read_bytes()[:-100])
    one_line(cli("infer", damaged), 2, "a Parquet file that is cut off")

    # Whatever happens, what is printed is JSON.
    outcome = cli("infer", unknown, "--json")
    (row,) = json.loads(outcome.out)
    assert (outcome.code, row["known"]) == (1, 0)
    empty = write(tmp_path / "empty.parquet", pa.table({"text": pa.array([], pa.string())}))
    outcome = cli("infer", empty, "--json")
    assert (outcome.code, json.loads(outcome.out)) == (2, [])
    assert f"there are no documents in {empty}" in outcome.err
    outcome = cli("infer", files / "b.parquet", damaged, "--json")
    assert (outcome.code, len(json.loads(outcome.out))) == (2, 150)
    assert "a Parquet file that is cut off" in outcome.err


def test_a_cluster_learns_the_same_though_a_worker_is_killed(
    cli, counted_here, files, dask, states, home, monkeypatch
):
    options = ("--texts", files, "--passes", 1, *MODEL)
    cli.ok("train", *options, "--session", "here")
    monkeypatch.setattr("wikitopics.session.training.cluster.FIRST_PATIENCE", 100)
    dask.start_scheduler()
    for _ in range(2):
        dask.start_worker()
    cli.ok("train", *options, "--session", "far", "--cluster", dask.address)

    jobs = 0
    job = ParquetTexts.job

    def job_at_which_a_worker_is_killed(source, batches, lost):
        nonlocal jobs
        jobs += 1
        if jobs == 12:
            kill(dask.workers[0])
        return job(source, batches, lost)

    monkeypatch.setattr(ParquetTexts, "job", job_at_which_a_worker_is_killed)
    cli.ok("train", *options, "--session", "killed", "--cluster", dask.address)
    assert dask.workers[0].poll() is not None
    for session in ("far", "killed"):
        assert stream_of(home / f"{session}.db") == stream_of(home / "here.db")
        assert states(home / f"{session}.db") == states(home / "here.db")


def test_more_documents(cli, counted_here, one_line, files, tmp_path):
    cli.ok("train", "--texts", files, "--passes", 1, *MODEL, "--session", "s")
    more = write(tmp_path / "more.parquet", made(range(350, 500)), group=20)
    cli.ok("train", "--texts", more, "--session", "s")
    status = cli.json("status", "--session", "s")
    assert status["articles"] == 360 + 99
    assert status["skips"] == {"already in the session": 51}
    rows = {row["page_id"]: row for row in cli.rows("articles", "--session", "s")}
    assert rows[400 + 150]["id"] == "doc/499"


def test_options_of_earlier_texts_do_not_concern_those_added(cli, counted_here, files, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{text(number)}\n" for number in range(600, 700)))
    cli.ok("train", "--texts", lines, "--lines", "--passes", 1, *MODEL)
    cli.ok("train", "--session", "default", "--texts", files / "a.parquet")
    cells = tmp_path / "cells.csv"
    cells.write_text("".join(f"{text(number)}\n" for number in range(700, 800)))
    options = ("--session", "table")
    cli.ok("train", *options, "--texts", cells, "--no-header", "--passes", 1, *MODEL)
    cli.ok("train", *options, "--texts", files / "a.parquet")
    for session in ("default", "table"):
        assert cli.json("status", "--session", session)["articles"] == 90 + 250


def test_what_is_wrong_is_one_line(cli, one_line, files, tmp_path, home, monkeypatch):
    bad = tmp_path / "bad.parquet"
    bad.write_text("text\n")
    one_line(cli("train", "--texts", bad), 2, f"{bad}: not a Parquet file")
    empty = write(tmp_path / "empty.parquet", made(range(3)).slice(0, 0))
    one_line(cli("train", "--texts", empty), 2, "there are no documents in empty.parquet")
    none = write(tmp_path / "none.parquet", pa.table({"body": ["a"]}))
    one_line(cli("train", "--texts", none), 2, "Name one with --text-column: 'body'")
    nothing = write(tmp_path / "nothing.parquet", pa.table({"text": pa.nulls(50, pa.string())}))
    outcome = cli("train", "--texts", nothing)
    assert (outcome.code, "no document to train on" in outcome.err) == (2, True)
    with_names = ("--no-header", "--text-column", "Text")
    told = "--no-header is for .csv and .tsv: the columns of a .parquet always have names"
    one_line(cli("train", "--texts", files, *with_names), 2, told)
    one_line(cli("vocab", "build", files, *with_names, "-o", tmp_path / "words.txt"), 2, told)
    told = "--lines is for .txt files: each row of a .parquet is a document"
    one_line(cli("train", "--texts", files, "--lines"), 2, told)
    one_line(cli("train", "--texts", files / "a.parquet", "--lines"), 2, told)
    one_line(cli("vocab", "build", files, "--lines", "-o", tmp_path / "words.txt"), 2, told)
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress((files / "a.parquet").read_bytes()))
    told = "a.parquet.gz: not a supported kind of file: give .jsonl"
    one_line(cli("train", "--texts", packed), 2, told)
    one_line(cli("vocab", "build", packed, "-o", tmp_path / "words.txt"), 2, told)
    address = "http://127.0.0.1:9/a.parquet"
    told = f"{address}: download it first: a vocabulary is built from files"
    one_line(cli("vocab", "build", address, "-o", tmp_path / "words.txt"), 2, told)
    renamed = tmp_path / "a.csv"
    renamed.write_bytes((files / "a.parquet").read_bytes())
    one_line(cli("train", "--texts", renamed), 2, "its name must end with .parquet")
    with monkeypatch.context() as patched:
        patched.setattr(pa, "__version__", "19.0.0")
        told = "pyarrow 19.0.0 loses rows of some files: pip install 'pyarrow>=19.0.1'"
        one_line(cli("train", "--texts", files), 2, told)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    one_line(cli("train", "--texts", files), 2, "needs pyarrow: ", "wikitopics[parquet]")
    assert not list(home.glob("*.db"))


def test_changed_files_are_refused(cli, counted_here, files):
    options = ("--texts", files, "--passes", "1")
    cli.ok("train", *options, *MODEL, "--articles", 100)
    write(files / "a.parquet", made(range(2, 252)), group=30)
    changed = "texts: the files have changed since this session began: restore them"
    outcome = cli("train", *options)
    assert (outcome.code, changed in outcome.err.splitlines()[-1]) == (2, True)
    (files / "a.parquet").unlink()
    outcome = cli("train", *options)
    assert (outcome.code, changed in outcome.err.splitlines()[-1]) == (2, True)


def test_texts_on_a_server(cli, counted_here, one_line, files, states, home):
    here = ("--texts", files, "--passes", 1, *MODEL, "--session", "here")
    cli.ok("train", *here, "--articles", 200)
    cli.ok("train", *here)
    data = {f"/{name}": (files / name).read_bytes() for name in ("a.parquet", "b.parquet")}
    with served(data) as server:
        texts = [word for path in data for word in ("--texts", server.url + path)]
        outcome = cli.ok("train", *texts, "--passes", 1, *MODEL, "--articles", 200)
        assert "this downloads 0.0 MB, none of which is stored" in outcome.err
        cli.ok("train", *texts, "--passes", 1)
        one_line(
            cli("train", *texts, "--session", "new", "--contact", "me@reader.org"),
            2,
            "is not Wikimedia's: your contact is sent there",
        )
    assert states(home / "default.db") == states(home / "here.db")
    assert stream_of(home / "default.db") == stream_of(home / "here.db")


@pytest.mark.long
@pytest.mark.parametrize("group", [50, 2500], ids=["many groups", "one group"])
def test_kills_and_stops_leave_the_same_stream(
    cli, counted_here, spawn_resting, home, tmp_path, states, group
):
    path = write(tmp_path / "many.parquet", made(range(2500)), group)
    options = ("--texts", path, *over_few_words(tmp_path), "--articles", "2000")
    cli.ok("train", "--session", "whole", *options)
    for end, rests in ((signal.SIGTERM, 1000), (signal.SIGKILL, 1800)):
        with spawn_resting(rests, "train", "--session", "killed", *options) as trainer:
            end_after_a_commit(trainer, home / "killed.db", end)
    cli.ok("train", "--session", "killed", *options)
    assert stream_of(home / "killed.db") == stream_of(home / "whole.db")
    assert states(home / "killed.db") == states(home / "whole.db")
