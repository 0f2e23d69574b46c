"""Kinds of sources, ours and those of other packages."""

import pytest

from wikitopics.session import sources
from wikitopics.session.errors import BadUsage

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
        (
            NOTES.replace('str, "notes"', 'str, "topics"'),
            "an option --topics, which wikitopics already has",
        ),
        *(
            (
                NOTES.replace('str, "notes"', f'str, "{name}"'),
                f"option '{name}': its name must be unique: ",
            )
            for name in ("min-lines", "Notes", "ä", "class", "_n", "")
        ),
        (NOTES.replace("True),)", "True))"), "options that are not a tuple"),
        (
            NOTES.replace('str, "notes"', 'str, "dump"'),
            "has an option --dump, which wikitopics already has",
        ),
    ],
)
def test_a_kind_that_does_not_work_is_one_line_and_does_not_keep_from_reading(
    install, source, says
):
    install(source, "wikitopics.sources", notes="notes_package:Notes")
    with pytest.raises(BadUsage, match=says) as caught:
        sources.load("notes")
    assert "\n" not in str(caught.value)
    assert sources.kind_named("notes").shown("my notes") == "my notes"


def test_a_source_that_does_not_exist():
    with pytest.raises(BadUsage, match=r"'apo' is not a kind of source\. Did you mean 'api'"):
        sources.load("apo")
