"""Values of a session file that are large, or become large, are refused before they take memory."""

import functools
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

BOMB_BYTES = 2**30
CHUNK = bytes(2**24)
MOST_MB = 900
"""A trainer with all its libraries takes some 300."""


@functools.cache
def bomb() -> bytes:
    """A whole .npz of 1 MB that unpacks to 1 GB of zeros."""
    header = b"\x93NUMPY\x01\x00"
    told = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({BOMB_BYTES // 4},), }}".ljust(117) + "\n"
    header += struct.pack("<H", len(told)) + told.encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(header) + packer.flush(zlib.Z_FULL_FLUSH)
    chunk = packer.compress(CHUNK) + packer.flush(zlib.Z_FULL_FLUSH)  # the same whatever stands before
    crc = zlib.crc32(header)
    for _ in range(BOMB_BYTES // len(CHUNK)):
        crc = zlib.crc32(CHUNK, crc)
    data = first + chunk * (BOMB_BYTES // len(CHUNK)) + packer.flush()
    sizes = struct.pack("<HHHIII", 8, 0, 33, crc, len(data), BOMB_BYTES + len(header))
    name = b"lambda_hat.npy"
    local = b"PK\3\4" + struct.pack("<HH", 20, 0) + sizes + struct.pack("<HH", len(name), 0) + name + data
    entry = b"PK\1\2" + struct.pack("<HHH", 20, 20, 0) + sizes
    entry += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    return local + entry + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)


CHANGE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute(sys.argv[2], {"bomb": sys.stdin.buffer.read()})
db.commit()
"""
LONG = "printf('%.*c', 150000000, 'x')"
ABOUT = "SELECT seq FROM articles WHERE substr(topics, 1, 2) = x'0000'"
ARTICLES = [["export", "articles"], ["articles", "--topic", "0", "--limit", "1000"]]
CASES = {
    "a bomb": ("UPDATE models SET arrays = :bomb", [["infer"], ["train"], ["export", "model"]]),
    "a large state": ("UPDATE models SET arrays = zeroblob(300000000)", [["infer"], ["train"]]),
    "large counts": ("UPDATE held_out SET documents = zeroblob(300000000)", [["train"]]),
    "a long title": (f"UPDATE articles SET title = {LONG} WHERE seq = ({ABOUT})", ARTICLES),
    "a long word": (f"UPDATE vocabulary SET words = {LONG} || {LONG}", [["infer"], ["topics"]]),
}
OTHERS = sorted(CASES.keys() - {"a bomb"})


@pytest.mark.long
def test_the_bomb_is_one(tmp_path):
    """Not that the test refuses what nothing could unpack."""
    (tmp_path / "bomb.npz").write_bytes(bomb())
    with np.load(tmp_path / "bomb.npz") as arrays:
        assert arrays.zip.testzip() is None


MEASURED = """
import resource, subprocess, sys
command = [sys.executable, "-m", "wikitopics", *sys.argv[1:]]
code = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Says how much a command took at most. A child's peak begins with its parent's: this parent is small."""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
@pytest.mark.parametrize("case", ["a bomb", *(pytest.param(case, marks=pytest.mark.long) for case in OTHERS)])
def test_what_is_too_large_is_refused_before_it_takes_memory(trained, case):
    sql, commands = CASES[case]
    # In another process: what this one takes would count for its children too.
    subprocess.run([sys.executable, "-c", CHANGE, trained, sql], input=bomb(), check=True)
    for command in commands:
        done = subprocess.run([sys.executable, "-c", MEASURED, *command], stderr=subprocess.PIPE, text=True)
        *told, kilobytes = done.stderr.splitlines()
        assert (done.returncode, "damaged" in told[-1]) == (5, True), (command, told)
        assert int(kilobytes) / 1024 < MOST_MB, command
