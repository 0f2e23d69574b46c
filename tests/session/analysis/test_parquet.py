"""Parquet: what CSV and JSON hold, with types."""

import io
import json
import sys

import pytest

import wikitopics as wt
from tests.session.analysis.exported import written
from wikitopics.session.analysis import formats
from wikitopics.session.analysis.exports import TABLES, TYPES

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an optional extra")
NAMES = {str: "string", int: "int64", float: "double", bool: "bool"}


@pytest.mark.parametrize("what", [name for name, table in TABLES.items() if table.columns])
@pytest.mark.parametrize("together", [7, formats.GROUP])
def test_it_holds_what_json_holds(what, together, cli, trained, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "GROUP", together)
    assert cli("export", what, "--format", "parquet", "-o", tmp_path / "a.parquet").code == 0
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.to_pylist() == json.loads(cli("export", what, "--format", "json").out)
    for field in table.schema:
        assert str(field.type) == NAMES[TYPES[field.name]], field


def table_of(rows):
    data = written("parquet", ("title", "topic", "share", "in_use"), rows)
    return parquet.read_table(io.BytesIO(data))


def test_values_are_as_they_are_and_rows_are_groups_in_order(monkeypatch):
    rows = [("=HYPERLINK(1)", 2**62, 0.1, True), ('a, "b"\n\t\0', None, 1e-300, False)]
    rows += [("", -1, float("inf"), None), ("\U0001f600\u202e", 0, -0.0, True)]
    assert [tuple(row.values()) for row in table_of(rows).to_pylist()] == rows
    assert table_of([]).column_names == ["title", "topic", "share", "in_use"]
    monkeypatch.setattr(formats, "GROUP", 1_000)
    found = table_of([(f"t{n}", n, n / 7, n % 2 == 0) for n in range(2_300)])
    assert found["topic"].to_pylist() == list(range(2_300))


def test_a_terminal_gets_none(cli, trained, one_line, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    refused = "cannot write parquet to a terminal: give -o FILE.parquet or redirect"
    one_line(cli("export", "topics", "--format", "parquet"), 2, refused)


def test_a_file_gets_all_by_standard_output_or_its_ending(trained, spawn, tmp_path):
    with (tmp_path / "out").open("wb") as out:
        spawn("export", "words", "--format", "parquet", stdout=out, text=False).communicate()
    assert parquet.read_table(tmp_path / "out").num_rows > 0
    wt.open().export("words", tmp_path / "words.parquet")
    assert parquet.read_table(tmp_path / "words.parquet").column_names == [
        "word",
        "count",
        "articles",
    ]


def test_without_the_extra_it_is_one_line_and_no_file(
    cli,
    trained,
    one_line,
    monkeypatch,
    tmp_path,
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    arguments = "export", "topics", "--format", "parquet", "-o", tmp_path / "a.parquet"
    one_line(
        cli(*arguments),
        2,
        "--format parquet needs pyarrow: ",
        "-m pip install 'wikitopics[parquet]'",
    )
    assert not (tmp_path / "a.parquet").exists()
    with pytest.raises(ValueError, match=r"^format parquet needs pyarrow"):
        wt.open().export("topics", tmp_path / "a.parquet")
