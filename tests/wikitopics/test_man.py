"""The manual page says what the program's help says."""

from pathlib import Path

from tests.commands import python

MAKE = Path(__file__).parents[2] / "docs" / "man" / "make.py"


def test_the_manual_page_is_of_today() -> None:
    # In a process of its own, since click keeps a command's help option as it was first requested.
    script = "import runpy, sys; sys.stdout.write(runpy.run_path(sys.argv[1])['made']())"
    made = python(script, MAKE)
    assert MAKE.with_name("wikitopics.1").read_text(encoding="utf-8") == made, (
        "the help has changed: run `python docs/man/make.py`"
    )
    assert ".SS wikitopics topics rename" in made
    assert str(Path.home()) not in made
