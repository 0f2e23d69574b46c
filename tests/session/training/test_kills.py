"""A few stops of real trainers at random instants; benchmarks/experiments/kills.py makes hundreds."""

import random
from pathlib import Path

import pytest

from benchmarks.experiments import kills
from benchmarks.harness import ROOT
from benchmarks.stops import disk

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks for orphans in /proc, and disks are made on Linux"
)


@pytest.mark.long
def test_eight_stops_lose_nothing(tmp_path):
    tally = kills.counts(tmp_path, stops=8, documents=8000)
    assert (tally.broken, tally.survived, tally.stops) == ([], tally.tried, 8)


@pytest.mark.long
def test_a_wiki_that_misbehaves_is_crawled_once_through_all_stops(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    tally = kills.wiki(tmp_path, stops=2, articles=1200)
    assert (tally.broken, tally.stops) == ([], 2)


def test_a_power_cut_takes_only_what_was_not_flushed(tmp_path):
    sector, before, log, after = disk.SECTOR, tmp_path / "before", tmp_path / "log", tmp_path / "after"
    before.write_bytes(b"." * 4 * sector)
    entries = [(0, b"a" * sector), (disk.FLUSHED, b""), (0, b"b" * 2 * sector), (3 * sector, b"c" * sector)]
    log.write_bytes(b"".join(disk.RECORD.pack(0, at, len(data)) + data for at, data in entries))

    def states(position, kept, tries=1):
        found = set()
        for seed in range(tries):
            whole = disk.Log(log, log.stat().st_size)
            whole.state(before, after, position, kept, random.Random(seed))
            found.add(after.read_bytes()[::sector].decode())
        return found

    assert states(4, 1.0) == {"bb.c"}
    assert states(4, 0.0) == {"a..."}
    assert states(4, 0.5, 100) == {x + y + "." + z for x in "ab" for y in ".b" for z in ".c"}
    assert states(1, 0.0) == {"...."}
    assert states(3, 1.0) == {"bb.."}
    assert len(disk.Log(log, log.stat().st_size - 1).writes) == 3
