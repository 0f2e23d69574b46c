"""Ways to damage a session file by hand: each a name, and what it does to the file."""

import contextlib
import io
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

VALUES: dict[str, object] = {
    "null": None,
    "text": "text",
    "empty": "",
    "minus": -1,
    "zero": 0,
    "half": 1.5,
    "huge": 2**62,
    "least": -(2**63),
    "infinite": float("inf"),
    "nul": "a\0\x1b[31m\nb",
    "long": "x" * 2_000_000,
    "list": "[]",
    "object": "{}",
    "json null": "null",
    "json nan": '{"a": NaN}',
    "surrogate": '"\\ud800"',
    "deep": "[" * 100_000,
    "blob": b"\x01\x02\x03",
    "no bytes": b"",
}
EXPRESSIONS = {
    "no utf-8": "CAST(x'ff41fe' AS TEXT)",
    "as text": "CAST({column} AS TEXT)",
    "as blob": "CAST({column} AS BLOB)",
    "cut": "substr({column}, 1, length({column}) / 2)",
    "cut by one": "substr({column}, 1, length({column}) - 1)",
    "longer": "{column} || x'00'",
    "twice": "{column} || {column}",
}
JSON_VALUES = [None, "text", -1, 1.5, 10**400, True, [], {}, [[]], {"a": 1}, "\ud800", "x" * 100_000]
JSON_COLUMNS = {
    "settings": "value",
    "models": "scalars",
    "heartbeat": "activity",
    "progress": "position",
}
NPZ_COLUMNS = {
    "models": "arrays",
    "pending": "documents",
    "held_out": "documents",
    "recent": "documents",
    "kept_counts": "documents",
    "word_counts": "arrays",
}


class Damage(NamedTuple):
    """One way to damage a file."""

    name: str
    do: Callable[[sqlite3.Connection], object]


def all_damages(session: Path) -> Iterator[Damage]:
    """Every way, for every table and column of the session."""
    with contextlib.closing(sqlite3.connect(session)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}
        for table, columns in tables.items():
            yield from of_table(table, columns)
        for table, column in JSON_COLUMNS.items():
            for rowid, value in db.execute(f"SELECT rowid, {column} FROM {table}"):
                yield from of_json(table, column, rowid, value)
        for table, column in NPZ_COLUMNS.items():
            for rowid, value in db.execute(f"SELECT rowid, {column} FROM {table} LIMIT 3"):
                yield from of_npz(table, column, rowid, value)
    for pragma, number in itertools.product(("user_version", "application_id"), (0, -1, 1, 99)):
        yield Damage(f"{pragma} {number}", lambda db, s=f"PRAGMA {pragma} = {number}": db.execute(s))


def of_table(table: str, columns: list[str]) -> Iterator[Damage]:
    """The table itself, and every value of its columns in every row."""
    yield Damage(f"{table}: emptied", run(f"DELETE FROM {table}"))
    for column in columns:
        yield Damage(f"{table}.{column}: gone", run(f"ALTER TABLE {table} DROP COLUMN {column}"))
        for name, value in VALUES.items():
            yield Damage(
                f"{table}.{column}: {name}", run(f"UPDATE OR IGNORE {table} SET {column} = ?", value)
            )
        for name, expression in EXPRESSIONS.items():
            sql = f"UPDATE OR IGNORE {table} SET {column} = {expression.format(column=column)}"
            yield Damage(f"{table}.{column}: {name}", run(sql))


def of_json(table: str, column: str, rowid: int, text: str | None) -> Iterator[Damage]:
    """Every value in the JSON of one row."""
    if text is None:
        return
    for place, changed in changed_json(json.loads(text)):
        sql = f"UPDATE {table} SET {column} = ? WHERE rowid = {rowid}"
        yield Damage(f"{table}.{column} {rowid}{place}", run(sql, json.dumps(changed)))


def changed_json(value: Any) -> Iterator[tuple[str, Any]]:
    """The value with one part of it left out, or another."""
    for wrong in JSON_VALUES:
        yield f": {str(wrong)[:12]!r}", wrong
    if isinstance(value, dict):
        for key in value:
            yield f".{key}: gone", {k: v for k, v in value.items() if k != key}
            for place, changed in changed_json(value[key]):
                yield f".{key}{place}", {**value, key: changed}
    elif isinstance(value, list) and value:
        for place, changed in changed_json(value[0]):
            yield f"[0]{place}", [changed, *value[1:]]


def of_npz(table: str, column: str, rowid: int, data: bytes) -> Iterator[Damage]:
    """Every array of an .npz, and the .npz itself."""
    with np.load(io.BytesIO(data)) as loaded:
        arrays = dict(loaded)
    sql = f"UPDATE {table} SET {column} = ? WHERE rowid = {rowid}"

    def damaged(name: str, make: Callable[[], bytes]) -> Damage:
        """Made when it is done: most are not."""
        return Damage(f"{table}.{column} {rowid}{name}", lambda db: db.execute(sql, [make()]))

    yield damaged(": compressed", lambda: npz(arrays, compressed=True))
    yield damaged(": bomb", lambda: npz({**arrays, "bomb": np.zeros(2**22)}, compressed=True))
    yield damaged(": nothing", lambda: npz({}))
    yield damaged(": more", lambda: npz({**arrays, "more": np.zeros(3)}))
    yield damaged(": behind", lambda: data + b"\0")
    yield damaged(": pickled", lambda: npz({**arrays, "more": np.array([{}], object)}))
    for key, array in arrays.items():
        others = {name: value for name, value in arrays.items() if name != key}
        yield damaged(f".{key}: gone", lambda others=others: npz(others))
        for name, changed in changed_arrays(array):
            yield damaged(f".{key}: {name}", lambda key=key, changed=changed: npz({**arrays, key: changed}))


def changed_arrays(array: Any) -> Iterator[tuple[str, Any]]:
    """The array in other shapes, of other types, with other numbers."""
    yield "shorter", array[:-1]
    yield "narrower", array[..., :-1]
    yield "longer", np.concatenate([array, array[:1]])
    yield "flat", array.reshape(-1, 1)
    yield "alone", array.sum()
    yield "turned", array.T
    yield "strings", array.astype("S4")
    yield "complex", array.astype(complex)
    yield "other bytes", array.astype(array.dtype.newbyteorder())
    for name, value in {
        "minus": -1,
        "big": 2**31 - 1,
        "nan": np.nan,
        "infinite": np.inf,
        "vast": 1e38,
    }.items():
        changed = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
        if array.size and (array.dtype.kind == "f" or isinstance(value, int)):
            changed.flat[-1] = value
            yield name, changed.astype(array.dtype) if array.dtype.kind == "f" else changed


def npz(arrays: dict[str, Any], *, compressed: bool = False) -> bytes:
    """The bytes of an .npz."""
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, **arrays)
    return buffer.getvalue()


def run(sql: str, *parameters: object) -> Callable[[sqlite3.Connection], object]:
    """One statement as a damage."""
    return lambda db: db.execute(sql, parameters)
