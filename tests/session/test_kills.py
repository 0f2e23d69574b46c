"""A few stops of real trainers at random instants; benchmarks/kills.py makes hundreds."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "kills.py"


@pytest.fixture(scope="module")
def kills():
    spec = importlib.util.spec_from_file_location("kills", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kills"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["kills"]


@pytest.mark.timeout(300)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for orphans in /proc")
def test_ten_stops_lose_nothing(kills, tmp_path):
    tally = kills.counts(tmp_path, stops=8, documents=8000)
    assert tally.broken == []
    assert tally.survived == tally.tried
    assert tally.stops == 8


@pytest.mark.timeout(300)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for orphans in /proc")
def test_a_wiki_that_misbehaves_is_crawled_once_through_all_stops(kills, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parents[1]))
    tally = kills.wiki(tmp_path, stops=2, articles=1200, faults=kills.FAULTS)
    assert tally.broken == []
    assert tally.stops == 2
