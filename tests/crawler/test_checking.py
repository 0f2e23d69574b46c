"""The check of a source accepts a sound one, and says what is wrong with another."""

import random
from dataclasses import replace

import pytest

from crawler.checking import check_source
from tests import packages

module = packages.module_of("A source of your own")
Notes, NotesSource = module["Notes"], module["NotesSource"]


@pytest.fixture
def folder(tmp_path):
    for number in range(120):
        (tmp_path / f"{number}.md").write_text(f"note {number}")
    return str(tmp_path)


def kind_of(change):
    """The kind of a source whose batches are changed: `change(batch, position)`."""

    class Changed(NotesSource):
        async def batches(self, position):
            async for batch in super().batches(position):
                yield change(batch, position)

    class Kind(Notes):
        def open(self, identity, asked):
            source = super().open(identity, asked)
            return Changed(source.folder, source.checksum)

    return Kind


def paged(**fields):
    return lambda batch, _: replace(batch, pages=tuple(replace(page, **fields) for page in batch.pages))


def shuffled(batch, _):
    return replace(batch, pages=tuple(random.sample(batch.pages, len(batch.pages))))


def test_a_sound_source_is_accepted(folder):
    check_source(Notes, notes=folder)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda batch, _: replace(batch, position={"read": 0}), "the same pages again after the position"),
        (lambda batch, _: replace(batch, position={"read": {1}}), "position to hold plain JSON"),
        (lambda batch, _: replace(batch, lap=7.0), "lap within 0 and 1"),
        (lambda batch, _: batch.pages, "a PageBatch"),
        (shuffled, "the same pages again after the position"),
        (paged(page_id=3), "a page_id of its own"),
        (paged(markup="markdown"), "markup to be one of wikitext, html, text"),
        (paged(text=b"bytes"), "text to be text"),
    ],
)
def test_what_is_wrong_is_said(folder, change, says):
    with pytest.raises(AssertionError, match=says):
        check_source(kind_of(change), notes=folder)


def test_an_option_that_the_kind_does_not_have_is_said(folder):
    with pytest.raises(AssertionError, match="found 'folder'"):
        check_source(Notes, folder=folder)
