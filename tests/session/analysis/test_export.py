"""Exports: the contract's headers, the same values in each form, whole files or none."""

import csv
import io
import itertools
import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from tests.commands import ROOT
from tests.session.analysis.exported import written
from tests.session.rows import sql
from tests.session.training.own_texts import MODEL, write
from wikitopics.session.analysis.exports import TABLES, ExportRequest
from wikitopics.session.analysis.formats import format_of
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.reader import SessionReader, backup


def test_topics_and_metrics_make_sense(cli, trained):
    topics = cli.rows("topics")
    assert {row["topic"] for row in topics} == {0, 1, 2, 3, 4}
    assert sum(row["share"] for row in topics if row["rank"] == 1) == pytest.approx(1, abs=1e-3)
    metrics = cli.rows("metrics")
    assert {row["metric"] for row in metrics} >= {
        "log_likelihood",
        "perplexity",
        "bound_perplexity",
        "npmi",
    }
    by_point = {(row["articles"], row["metric"]): row["value"] for row in metrics}
    for (articles, metric), value in by_point.items():
        if metric == "perplexity":
            assert value == pytest.approx(np.exp(-by_point[articles, "log_likelihood"]))
    articles = cli.rows("articles")
    assert len(articles) == 657
    assert all(0 < row["proportion"] <= 1 for row in articles)


def test_before_the_first_minibatch_no_coherence_is_an_earlier_versions(
    cli, new_session, home, corpus
):
    new_session(home / "default.db", corpus)
    assert "Coherence" not in cli.ok("export", "topics", "-o", home / "topics.csv").err


def test_the_export_of_topics_keeps_those_not_in_use(cli, trained, monkeypatch):
    # If first imported below, these would keep that value to the end.
    import wikitopics.model.changes
    import wikitopics.model.distances  # noqa: F401

    monkeypatch.setattr("wikitopics.model.online.IN_USE", 0.2)
    in_use = {row["topic"]: row["in_use"] for row in cli.rows("topics")}
    assert in_use == {row["topic"]: row["in_use"] for row in cli.json("topics")}
    assert set(in_use.values()) == {True, False}


def test_a_wide_export_has_a_row_for_each_topic_with_its_words_in_columns(cli, trained):
    words = {}
    for row in cli.rows("topics"):
        words.setdefault(row["topic"], []).append(row["word"])
    wide = json.loads(cli.ok("export", "topics", "--wide", "--format", "json").out)
    assert {row["topic"]: [row[f"word_{rank}"] for rank in range(1, 11)] for row in wide} == {
        topic: of_topic[:10] for topic, of_topic in words.items()
    }
    columns_of_1_2 = ["model", "topic", "name", "area", "area_name", "share"]
    columns_of_1_2 += [f"word_{rank}" for rank in range(1, 11)]
    assert list(wide[0])[:16] == columns_of_1_2
    listed = {topic["topic"]: " · ".join(topic["titles"]) for topic in cli.json("topics")}
    assert {row["topic"]: row["titles"] for row in wide} == listed
    assert "--wide is only for `export topics`" in cli("export", "words", "--wide").err


def test_titles_are_in_one_cell_that_is_never_a_formula(cli, trained):
    sql(trained, "UPDATE articles SET title = '=1+1, \"quoted\"' WHERE role = 0")
    sql(trained, "UPDATE articles SET title = 'two' || char(10) || 'lines' WHERE page_id % 2")
    rows = cli.rows("topics")
    listed = {topic["topic"]: " · ".join(topic["titles"]) for topic in cli.json("topics")}
    assert {row["topic"]: row["titles"] for row in rows} == listed
    assert any(" · " in titles for titles in listed.values())
    cells = [row["titles"] for row in csv.DictReader(io.StringIO(cli("export", "topics").out))]
    for titles, cell in zip([row["titles"] for row in rows], cells, strict=True):
        begins_a_formula = titles.startswith("=")
        assert cell == (f"'{titles}" if begins_a_formula else titles)


def test_without_articles_there_are_no_titles(cli, corpus, home):
    few = ("--topics", 5, "--held-out", 40, "--batch-size", 64)
    cli.ok("train", *corpus.options(), *few, "--keep-articles", "none")
    assert [topic["titles"] for topic in cli.json("topics")] == [[]] * 5
    assert {row["titles"] for row in cli.rows("topics")} == {""}
    header, *lines = cli("topics").out.splitlines()
    assert header.split()[-1] == "titles"
    assert [line for line in lines if line != line.rstrip()] == []


def test_the_history_has_ten_words_of_every_topic_at_every_snapshot(cli, trained):
    ranks = {}
    for row in cli.rows("history"):
        ranks.setdefault((row["articles"], row["topic"]), []).append(row["rank"])
    with SessionReader(trained) as reader:
        assert list(ranks) == list(itertools.product(reader.snapshots("lda"), range(5)))
    assert set(map(tuple, ranks.values())) == {tuple(range(1, 11))}


def test_points_of_the_history_that_a_trainer_thins_out_meanwhile_are_left_out(
    trained, monkeypatch
):
    monkeypatch.setattr("wikitopics.session.analysis.exports._BATCH_ROWS", 1)
    with SessionReader(trained) as reader:
        before = reader.snapshots("lda")
        batches = TABLES["history"].batches(ExportRequest(reader, ["lda"]))
        _, articles, *_ = next(batches)
        assert articles == (before[0],)
        sql(trained, "DELETE FROM snapshots WHERE articles = ?", before[1])
        later = {articles[0] for _, articles, *_ in batches}
        assert sorted(later) == [before[0], *before[2:]]


def test_documents_without_a_title_have_their_number(cli, trained):
    articles = cli.rows("articles")
    assert [row["title"] for row in articles] == [f"document {row['page_id']}" for row in articles]
    with SessionReader(trained) as reader:
        found = reader.find_articles("DOCUMENT 69")
        assert {row.title for row in found} >= {"document 69", "document 690"}
        assert all("69" in row.title for row in found)
    (first,) = cli.json("articles", "--topic", 0, "--limit", 1)
    assert first["title"] in cli("articles", "--topic", 0, "--limit", 1).out


def test_the_model_is_arrays_in_topic_order(cli, trained, tmp_path, corpus):
    assert cli("export", "model", "-o", tmp_path / "m.npz").code == 0
    with np.load(tmp_path / "m.npz", allow_pickle=False) as model:
        wanted = {"topic_word", "alpha", "vocabulary", "topic_share"}
        assert set(model.files) == {*wanted, "topic_weight", "kind", "word_rule"}
        assert (model["word_rule"], model["kind"]) == ("1", "lda")
        assert np.allclose(model["topic_word"].sum(axis=1), 1, atol=1e-4)
        assert model["topic_share"].sum() == pytest.approx(1)
        assert model["vocabulary"].tolist() == list(corpus.words)
        best = [row["word"] for row in cli.rows("topics") if row["rank"] == 1]
        assert model["vocabulary"][model["topic_word"].argmax(axis=1)].tolist() == best


def test_what_does_not_go_together(cli, trained, one_line):
    for arguments in (
        "model --format csv",
        "topics --format npz",
        "topics --all",
        "topics --model hdp",
        "topics --format json --bom",
    ):
        one_line(cli("export", *arguments.split()), 2)


def test_every_value_is_the_json_of_python():
    rows = [
        (1, "a, b", None, 0.1, True),
        (2, "a, b", 'é \ud800 "%s" \n', 1e300, 1),
        (3, "", 5, float("nan"), None),
    ]
    header = ("n", "a%d", "text or not", "x", "mixed")
    lines = [json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) for row in rows]
    wanted = "[\n" + ",\n".join(lines) + "\n]\n"
    assert written("json", header, rows) == wanted.encode("utf-8", "backslashreplace")


def test_every_value_is_the_csv_of_python():
    texts = ["", "a, b", 'say "a"', "two\nlines", "a\rb", " a ", "é \U0001f600", "None", "'"]
    rows = []
    for number, text in enumerate(texts):
        rows += [(text, number, None, value) for value in (0.0, -0.0, 1e-300)]
    text = written("csv", ("a",) * 4, rows).decode()
    wanted = io.StringIO(newline="")
    csv.writer(wanted, lineterminator="\n", quoting=csv.QUOTE_MINIMAL).writerows(
        [("a",) * 4, *rows]
    )
    assert text.replace('"a\rb"', "a\rb") == wanted.getvalue().replace('"a\rb"', "a\rb")
    back = [[text, str(number), "", str(value)] for text, number, _, value in rows]
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == back


def test_tabs_part_the_columns_of_a_tsv_and_spreadsheets_get_a_mark(cli, trained, tmp_path):
    for what in ("topics", "proportions"):
        assert cli("export", what, "-o", tmp_path / "t.tsv").code == 0
        tabs = list(csv.reader(io.StringIO((tmp_path / "t.tsv").read_text()), delimiter="\t"))
        assert tabs == list(csv.reader(io.StringIO(cli("export", what).out, newline="")))
    rows = [("a\tb", 'say "a"', "a, b", None, 1)]
    assert (
        written("tsv", tuple("abcde"), rows).decode()
        == 'a\tb\tc\td\te\n"a\tb"\t"say ""a"""\ta, b\t\t1\n'
    )
    assert cli("export", "topics", "--bom", "-o", tmp_path / "t.tsv").code == 0
    assert (tmp_path / "t.tsv").read_bytes().startswith(b"\xef\xbb\xbfmodel\ttopic")
    plain = cli("export", "topics").out
    assert cli("export", "topics", "--bom", "-o", tmp_path / "t.csv").code == 0
    assert (tmp_path / "t.csv").read_bytes() == b"\xef\xbb\xbf" + plain.encode()


ENDINGS = ".csv, .tsv, .json, .parquet or .xlsx"


@pytest.mark.parametrize(
    ("arguments", "name", "says"),
    [
        (
            ["topics"],
            "t.xls",
            f"t.xls: no format has the ending .xls; end the name in {ENDINGS}, or",
        ),
        (["topics"], "t.csv.gz", "no format has the ending .gz"),
        (["model"], "m.pkl", "end the name in .npz, -gensim or .ldavis.json, or name the format"),
        (
            ["topics"],
            "t.npz",
            "topics cannot be exported as npz: choose csv, tsv, json, parquet, xlsx",
        ),
        (
            ["topics", "--format", "csv"],
            "t.json",
            "t.json: .json is not the ending of csv: use .csv",
        ),
        (["topics", "--format", "csv"], "t.TSV", ".tsv is not the ending of csv"),
        (["topics"], "t", "model,topic"),
        (["topics"], "T.CSV", "model,topic"),
        (["topics", "--format", "csv"], "t.txt", "model,topic"),
    ],
)
def test_a_names_ending_is_its_format_or_refused(
    cli,
    trained,
    tmp_path,
    one_line,
    arguments,
    name,
    says,
):
    outcome = cli("export", *arguments, "-o", tmp_path / name)
    if outcome.code:
        one_line(outcome, 2, says)
        assert not (tmp_path / name).exists()
    else:
        assert (tmp_path / name).read_text().startswith(says)


def test_a_disk_that_is_full_in_the_middle_leaves_the_old_file(trained, tmp_path):
    target = tmp_path / "t.csv"
    target.write_text("mine")
    # -B, or it would leave .pyc files behind that are cut off too.
    command = f"ulimit -f 1; exec '{sys.executable}' -B -m wikitopics export topics -o '{target}'"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"wikitopics: cannot write {target}: File too large\n"
    assert target.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["t.csv"]


def test_a_pipe_and_a_device_stay_what_they_are(cli, trained, tmp_path, one_line):
    for target in (tmp_path / "none" / "t.csv", tmp_path):
        one_line(cli("export", "topics", "-o", target), 1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody reads it: to open it would wait for ever
    one_line(cli("export", "topics", "-o", pipe), 1, "a pipe, not a regular file")
    if os.path.exists("/dev/full"):
        one_line(cli("export", "topics", "-o", "/dev/full"), 1, "a device, not a regular file")
    before = os.lstat(os.devnull)
    assert cli("export", "topics", "-o", os.devnull).code == 0
    assert os.path.samestat(os.lstat(os.devnull), before), "it is written to, never replaced"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == []


def test_an_export_follows_no_link_and_takes_nobodys_file(cli, trained, tmp_path):
    mine = tmp_path / "mine"
    target = tmp_path / "t.csv"
    mine.write_text("mine")
    (tmp_path / "t.csv.part").write_text("mine too")
    target.symlink_to(mine)
    assert cli("export", "topics", "-o", target).code == 0
    assert (mine.read_text(), (tmp_path / "t.csv.part").read_text()) == ("mine", "mine too")
    assert not target.is_symlink()
    assert target.read_text().startswith("model,topic,rank,word")


def test_a_backup_is_a_session_that_goes_on(cli, trained, tmp_path, one_line, states):
    copy = tmp_path / "copy.db"
    assert cli("backup", copy).code == 0
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert states(copy) == states(trained)
    assert cli("train", "--session", copy).code == cli("status", "--session", copy).code == 0
    before = copy.read_bytes()
    one_line(cli("backup", copy), 1, "already exists")
    assert copy.read_bytes() == before


def test_a_backup_that_fails_leaves_nothing(trained, tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    with pytest.raises(SessionError):
        backup(trained, tmp_path / "none" / "copy.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match="Not a directory"):
        backup(trained, tmp_path / "file" / "copy.db")
    with pytest.raises(SessionError):
        backup(tmp_path / "nothing.db", tmp_path / "copy.db")
    monkeypatch.setattr("wikitopics.session.storage.files.sync", full)
    with pytest.raises(SessionError, match="No space left"):
        backup(trained, tmp_path / "copy.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "home"]


def told_of(path, what):
    """All that is told while a table is written: what is done, and of how much."""
    told = []
    with SessionReader(path) as reader:
        table = TABLES[what]
        request = ExportRequest(
            reader, table.models(reader, None), advance=lambda _, *numbers: told.append(numbers)
        )
        for piece in format_of(table, "csv").stream(table, request):
            assert piece
    return told


@pytest.mark.parametrize("what", ["articles", "map", "proportions"])
def test_rows_of_articles_say_how_many_of_all_are_written(trained, what):
    done, total = told_of(trained, what)[-1]
    assert 0 < done == total


def test_never_more_than_all_articles_are_said_to_be_written(cli, counted_here, home, tmp_path):
    path = write(tmp_path / "texts.jsonl", 1, 100)
    with path.open("a") as file:
        file.write("{}\n" * 200)  # no text, which is skipped, and not kept
    cli.ok("train", "--texts", path, "--session", "own", "--passes", 1, *MODEL)
    done, total = told_of(home / "own.db", "articles")[-1]
    assert 0 < done == total
