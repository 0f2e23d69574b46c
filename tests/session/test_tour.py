"""The tour of an article in CONTRIBUTING: each function is where it says."""

import re
from importlib import import_module
from operator import attrgetter

import pytest

from tests.commands import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
STOPS = re.findall(r"^\| `([\w.]+)`[^|]* \| `([\w/]+)\.py`", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("function", "module"), STOPS)
def test_a_function_of_the_tour_is_where_it_says(function, module):
    found = import_module("wikitopics." + module.replace("/", "."))
    assert callable(attrgetter(function)(found))


def test_the_tour_is_short():
    assert 10 < len(STOPS) <= 15
