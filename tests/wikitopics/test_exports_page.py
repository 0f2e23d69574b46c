"""docs/exports.md is a data dictionary: what it lists is what exports hold, in that order."""

import csv
import io
import json
import re
from typing import get_args

import numpy as np
import pytest

from tests.commands import ROOT
from tests.session.rows import sql
from wikitopics.session.analysis.exports import FORMATS
from wikitopics.session.analysis.tables import TABLES, ExportRequest
from wikitopics.session.records import TopicChange
from wikitopics.session.storage.reader import SessionReader

PAGE = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
TYPES = {"text": str, "boolean": bool, "integer": int, "number": (int, float)}


def tables(title: str) -> dict[str, list[list[str]]]:
    """The tables of a section by the head of their first column: the cells of each row."""
    _, *after = re.split(rf"^#+ {title}\n", PAGE, maxsplit=1, flags=re.MULTILINE)
    assert after, f"docs/exports.md has no section {title!r}"
    text = after[0].split("\n#")[0]
    found = {}
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = (re.split(r" \| ", line.strip("| \n")) for line in table.splitlines())
        found[head[0]] = [[cells[0].strip("`"), *cells[1:]] for cells in rows]
    return found


@pytest.mark.parametrize("what", [name for name, table in TABLES.items() if table.batches])
def test_columns_are_those_of_the_file_and_of_these_types(what, cli, trained):
    # In so short a session nothing happens.
    sql(trained, "INSERT INTO topic_events VALUES (NULL, 0, 64, 'split', 1, 2, 'birds')")
    listed, table = tables(what)["column"], TABLES[what]
    assert [row[0] for row in listed] == [*table.columns, *table.optional]
    with SessionReader(trained) as reader:
        header = table.header(ExportRequest(reader, ["lda"]))
    rows = json.loads(cli("export", what, "--format", "json").out)
    assert rows
    table = csv.DictReader(io.StringIO(cli("export", what).out))
    assert list(table) == [{key: "" if v is None else str(v) for key, v in row.items()} for row in rows]
    types = {name: kind for name, kind, *_ in listed}
    for row in rows:
        assert tuple(row) == header
        for column, value in row.items():
            kind, _, empty = types[column].partition(" or ")
            assert isinstance(value, TYPES[kind]) or (value is None and empty), (column, value)


@pytest.mark.parametrize("what", [name for name, table in TABLES.items() if table.arrays])
def test_arrays_are_those_of_the_file_and_of_these_shapes(what, cli, trained, tmp_path):
    assert cli("export", what, "--format", "npz", "-o", tmp_path / "a.npz").code == 0
    sizes: dict[str, int] = {}
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert list(arrays) == [row[0] for row in tables(what)["array"]]
        for name, shape, *_ in tables(what)["array"]:
            wanted = re.findall(r"\w(?: \+ 1)?", shape)
            assert len(wanted) == arrays[name].ndim
            for letter, size in zip(wanted, arrays[name].shape, strict=True):
                more = letter.endswith("+ 1")
                known = int(letter) if letter.isdigit() else sizes.setdefault(letter[0], size - more)
                assert size == known + more, name


def test_keys_for_ldavis(cli, trained):
    found = json.loads(cli("export", "model", "--format", "ldavis").out)
    assert list(found) == [row[0] for row in tables("For LDAvis")["key"]]


def test_every_export_form_and_event_has_its_place():
    assert set(re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)) == set(TABLES)
    assert [row[0].split("`")[0] for row in tables("Exports")["`--format`"]] == list(FORMATS)
    (events,) = (meaning for name, _, meaning in tables("events")["column"] if name == "event")
    assert re.findall(r"`(\w+)`", events) == list(get_args(TopicChange))
