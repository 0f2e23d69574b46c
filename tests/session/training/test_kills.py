"""A few stops of real trainers at random instants; benchmarks/experiments/kills.py makes
hundreds."""

from pathlib import Path

import pytest

from benchmarks.experiments import kills
from benchmarks.harness import ROOT

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(),
    reason="looks for orphans in /proc, and disks are made on Linux",
)


@pytest.mark.long
def test_eight_stops_lose_nothing(tmp_path):
    tally = kills.counts(tmp_path, stops=8, documents=4000)
    assert (tally.broken, tally.survived, tally.stops) == ([], tally.tried, 8)


@pytest.mark.long
def test_a_wiki_that_misbehaves_is_crawled_once_through_all_stops(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    tally = kills.wiki(tmp_path, stops=2, articles=1200)
    assert (tally.broken, tally.stops) == ([], 2)
