"""Spreadsheets: what CSV and JSON hold, a value a cell, with types, and nothing that acts."""

import io
import json
import sys
import zipfile
from dataclasses import replace

import pytest

import wikitopics as wt
from tests.session.analysis.exported import written
from wikitopics.session.analysis import spreadsheet
from wikitopics.session.analysis.exports import TABLES, ExportRequest
from wikitopics.session.errors import BadUsage
from wikitopics.session.storage.reader import SessionReader

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads what is written")
pytest.importorskip("xlsxwriter", reason="xlsxwriter is an optional extra")


def rows_of(source):
    """The cells of the only sheet; formulas would be read as such, not as their values."""
    (sheet,) = openpyxl.load_workbook(source).worksheets
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


@pytest.mark.parametrize("what", [name for name, table in TABLES.items() if table.columns])
def test_it_holds_what_json_holds(what, cli, trained, tmp_path):
    assert cli("export", what, "-o", tmp_path / "a.xlsx").code == 0
    header, *rows = rows_of(tmp_path / "a.xlsx")
    expected = json.loads(cli("export", what, "--format", "json").out)
    assert len(rows) == len(expected)
    for row, record in zip(rows, expected, strict=True):
        assert header == list(record)
        for found, value in zip(row, record.values(), strict=True):
            if isinstance(value, float):
                assert found == pytest.approx(value, rel=1e-14)
            else:
                assert found == (None if value == "" else value)


def test_text_is_never_a_formula_a_link_or_a_number():
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "{=1}", "http://example.org", "007", "TRUE"]
    data = written("xlsx", ("title", "share"), [(text, 0.5) for text in texts])
    (sheet,) = openpyxl.load_workbook(io.BytesIO(data)).worksheets
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert [cell.value for cell in cells] == texts
    assert all(cell.data_type == "s" and cell.hyperlink is None for cell in cells)
    assert [cell.quotePrefix for cell in cells] == [True] * 5 + [False] * 4
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_what_a_cell_cannot_hold_is_replaced_left_empty_or_text():
    rows = [("a\x00b\x1b\ud800\uffff", 2**62, float("nan")), ("_x0041_", -3, float("inf"))]
    rows += [("a\nb\tc", None, 1e300)]
    _, *found = rows_of(io.BytesIO(written("xlsx", ("title", "topic", "share"), rows)))
    bad = "\N{REPLACEMENT CHARACTER}"
    assert found == [
        [f"a{bad}b{bad}{bad}{bad}", str(2**62), None],
        ["_x005F_x0041_", -3, None],  # which the format reads as _x0041_
        ["a\nb\tc", None, 1e300],
    ]


def test_what_does_not_fit_on_a_sheet_is_one_line(monkeypatch):
    longest = "\U0001f600" * (spreadsheet.LONGEST_TEXT // 2)
    assert rows_of(io.BytesIO(written("xlsx", ("title",), [(longest,)])))[1] == [longest]
    with pytest.raises(BadUsage, match=r"^row 1 has a title of 32,768 characters, but"):
        written("xlsx", ("title",), [(longest + "ab",)])
    monkeypatch.setattr(spreadsheet, "MOST_ROWS", 4)
    assert len(rows_of(io.BytesIO(written("xlsx", ("topic",), [(n,) for n in range(3)])))) == 4
    with pytest.raises(BadUsage, match=r"^words has over 3 rows, .*: use csv or parquet"):
        written("xlsx", ("topic",), [(n,) for n in range(4)])


def test_the_same_session_gives_the_same_bytes_and_python_writes_them_too(cli, trained, tmp_path):
    assert cli("export", "topics", "--wide", "-o", tmp_path / "a.xlsx").code == 0
    assert cli("export", "topics", "--wide", "-o", tmp_path / "b.xlsx").code == 0
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    wt.open().export("words", tmp_path / "words.xlsx")
    assert rows_of(tmp_path / "words.xlsx")[0] == ["word", "count", "articles"]


def test_without_the_extra_or_on_a_terminal_it_is_one_line_and_no_file(
    cli, trained, one_line, monkeypatch, tmp_path
):
    arguments = "export", "topics", "--format", "xlsx"
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout.isatty", lambda: True)
        one_line(cli(*arguments), 2, "cannot write xlsx to a terminal: give -o FILE.xlsx")
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    one_line(
        cli(*arguments, "-o", tmp_path / "a.xlsx"),
        2,
        "--format xlsx needs xlsxwriter: ",
        "-m pip install 'wikitopics[excel]'",
    )
    assert not (tmp_path / "a.xlsx").exists()


@pytest.mark.parametrize("what", ["articles", "proportions", "map"])
def test_too_many_rows_are_refused_before_any_is_read(what, cli, trained, tmp_path, monkeypatch):
    n_rows = len(json.loads(cli("export", what, "--format", "json").out))
    monkeypatch.setattr(spreadsheet, "MOST_ROWS", 100)

    def unread(request):
        raise AssertionError("rows are read")

    monkeypatch.setitem(TABLES, what, replace(TABLES[what], batches=unread))
    told = cli("export", what, "-o", tmp_path / "a.xlsx")
    assert told.code == 2
    assert "over 99 rows" in told.err
    assert not (tmp_path / "a.xlsx").exists()
    with SessionReader(trained) as reader:
        models = TABLES[what].models(reader, None)
        assert 100 <= TABLES[what].least_rows(ExportRequest(reader, models)) <= n_rows
