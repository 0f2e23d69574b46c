"""The manual page says what the program's help says."""

import runpy
from pathlib import Path

MAKE = Path(__file__).parents[2] / "docs" / "man" / "make.py"


def test_the_manual_page_is_of_today() -> None:
    made = runpy.run_path(str(MAKE))["made"]()
    assert MAKE.with_name("wikitopics.1").read_text(encoding="utf-8") == made, "python docs/man/make.py"
    assert ".SS wikitopics topics rename" in made
    assert str(Path.home()) not in made
