"""Kinds of sources: ours, and those of other packages, which join by an entry point."""

import sys

import pytest

from wikitopics.crawler import Asked, PageKind
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage
from wikitopics.session.training.intake.counts import Counts

NOTES = """
from wikitopics.crawler import Option, PageKind
class Notes(PageKind):
    name = "notes"
    label = "Notes"
    options = (Option(str, "notes", "A folder.", path=True),)
    def identity(self, asked):
        return {"notes": asked.values["notes"]}
    def open(self, identity, asked):
        return identity["notes"]
"""


def test_the_built_in_kinds_have_their_own_names_and_each_is_of_one_shape():
    assert sources.names() == ("api", "html", "dump", "recent", "texts", "counts", "demo")
    for name in sources.names():
        kind = sources.load(name)
        assert kind.name == name
        assert isinstance(kind, PageKind) != isinstance(kind, Counts)
        assert kind.label


def test_a_kind_of_another_package_is_loaded_when_it_is_named(install):
    install(NOTES, "wikitopics.sources", notes="notes_package:Notes")
    assert sources.names()[-1] == "notes"
    sources.load("api")
    assert "notes_package" not in sys.modules
    kind = sources.load("notes")
    asked = Asked({"notes": "/here"})
    assert isinstance(kind, PageKind)
    assert kind.open(kind.identity(asked), asked) == "/here"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("1 / 0", "cannot be loaded: division by zero"),
        ("Notes = 3", "not a subclass of wikitopics.crawler.PageKind"),
        ("class Notes: name = 'notes'", "not a subclass of wikitopics.crawler.PageKind"),
        (
            "from wikitopics.crawler import PageKind\nclass Notes(PageKind): name = 'notes'",
            "lacks identity, open",
        ),
        (NOTES + "Notes.name = 'other'", "calls itself 'other'"),
        (NOTES.replace('str, "notes"', 'str, "topics"'), "an option --topics, which wikitopics has already"),
        *(
            (
                NOTES.replace('str, "notes"', f'str, "{name}"'),
                f"option '{name}': it needs a name of its own: ",
            )
            for name in ("min-lines", "Notes", "ä", "class", "_n", "")
        ),
        (NOTES.replace("True),)", "True))"), "options that are not a tuple"),
        (NOTES.replace('str, "notes"', 'str, "dump"'), "has an option --dump, which wikitopics has already"),
    ],
)
def test_a_kind_that_does_not_work_is_one_line_and_does_not_keep_from_reading(install, source, says):
    install(source, "wikitopics.sources", notes="notes_package:Notes")
    with pytest.raises(BadUsage, match=says) as caught:
        sources.load("notes")
    assert "\n" not in str(caught.value)
    assert sources.described("notes").shown("my notes") == "my notes"


def test_a_source_that_does_not_exist():
    with pytest.raises(BadUsage, match="'apo' is not a kind of source; did you mean api"):
        sources.load("apo")
