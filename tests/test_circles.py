"""Imports have a direction between modules too, not only between rooms (those are in `pyproject.toml`)."""

import grimp
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tests.commands import ROOT


def test_no_module_imports_itself_by_way_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even inside functions."""
    monkeypatch.syspath_prepend(ROOT)  # `benchmarks` is not installed
    graph = grimp.build_graph("wikitopics", "benchmarks", exclude_type_checking_imports=True, cache_dir=None)
    modules = sorted(graph.modules)
    number = {module: place for place, module in enumerate(modules)}
    arrows = [
        (number[module], number[other])
        for module in modules
        for other in graph.find_modules_directly_imported_by(module)
    ]
    starts, ends = zip(*arrows, strict=True)
    _, circle = connected_components(
        csr_array(([1] * len(arrows), (starts, ends)), shape=(len(modules),) * 2), connection="strong"
    )
    members: dict[int, set[str]] = {}
    for module, of in zip(modules, circle.tolist(), strict=True):
        members.setdefault(of, set()).add(module)
    assert [each for each in members.values() if len(each) > 1] == []
