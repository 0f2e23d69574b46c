"""Values of a session file that are large, or become large, are refused before they take memory."""

import functools
import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest

BOMB_BYTES = 2**30
CHUNK = bytes(2**24)
MOST_MB = 900
"""A trainer with all its libraries takes some 300."""


@functools.cache
def bomb():
    """A whole .npz of 5 MB that unpacks to 1 GB of zeros."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("lambda_hat.npy", "w") as member,
    ):
        header = {"descr": "<f4", "fortran_order": False, "shape": (BOMB_BYTES // 4,)}
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(BOMB_BYTES // len(CHUNK)):
            member.write(CHUNK)
    return buffer.getvalue()


CHANGE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute(sys.argv[2], {"bomb": sys.stdin.buffer.read()})
db.commit()
"""
LONG = "printf('%.*c', 150000000, 'x')"
ABOUT = "SELECT seq FROM articles WHERE role = 0 AND substr(topics, 1, 2) = x'0000'"
ARTICLES = [["export", "articles"], ["articles", "--topic", "0", "--limit", "1000"]]
CASES = {
    "a bomb": ("UPDATE models SET arrays = :bomb", [["infer"], ["train"], ["export", "model"]]),
    "a large state": ("UPDATE models SET arrays = zeroblob(300000000)", [["infer"], ["train"]]),
    "large counts": ("UPDATE held_out SET documents = zeroblob(300000000)", [["train"]]),
    "a long title": (f"UPDATE articles SET title = {LONG} WHERE seq = ({ABOUT})", ARTICLES),
    "a long word": (f"UPDATE vocabulary SET words = {LONG} || {LONG}", [["infer"], ["topics"]]),
}
OTHERS = sorted(CASES.keys() - {"a bomb"})


MEASURED = """
import resource, subprocess, sys
command = [sys.executable, "-m", "wikitopics", *sys.argv[1:]]
code = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Says how much a command took at most. A child's peak begins with its parent's: this parent is
small."""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
@pytest.mark.parametrize(
    "case", ["a bomb", *(pytest.param(case, marks=pytest.mark.long) for case in OTHERS)]
)
def test_what_is_too_large_is_refused_before_it_takes_memory(trained, case):
    sql, commands = CASES[case]
    # In another process: what this one takes would count for its children too.
    subprocess.run([sys.executable, "-c", CHANGE, trained, sql], input=bomb(), check=True)
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command], stderr=subprocess.PIPE, text=True
        )
        *told, kilobytes = done.stderr.splitlines()
        assert (done.returncode, "damaged" in told[-1]) == (5, True), (command, told)
        assert int(kilobytes) / 1024 < MOST_MB, command
