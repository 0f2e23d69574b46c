"""Imports have a direction between modules too, not only between rooms (those are in
`pyproject.toml`)."""

from graphlib import TopologicalSorter

import grimp
import pytest

from tests.commands import ROOT


def test_no_module_imports_itself_by_way_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even inside functions, or for types only; an error names the circle."""
    monkeypatch.syspath_prepend(ROOT)  # `benchmarks` is not installed
    graph = grimp.build_graph(
        "wikitopics",
        "benchmarks",
        exclude_type_checking_imports=False,
        cache_dir=None,
    )
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imported).prepare()
