"""The check of a source accepts a sound one, and says what is wrong with another."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests import packages
from wikitopics.crawler import Option
from wikitopics.crawler.checking import check_source

module = packages.module_of("A source of your own")
Notes = module["Notes"]
NotesSource = module["NotesSource"]


@pytest.fixture
def folder(tmp_path):
    for number in range(120):
        (tmp_path / f"{number}.md").write_text(f"note {number}")
    return str(tmp_path)


def read_by(reader):
    """The kind of a source that this class reads."""

    class Kind(Notes):
        def open(self, identity, asked):
            return reader(Path(identity["notes"]), identity.get("checksum"))

    return Kind


def kind_of(change):
    """The kind of a source whose batches are changed: `change(batch, position)`."""

    class Changed(NotesSource):
        async def batches(self, position):
            async for batch in super().batches(position):
                yield change(batch, position)

    return read_by(Changed)


def paged(**fields):
    return lambda batch, _: replace(
        batch, pages=tuple(replace(page, **fields) for page in batch.pages)
    )


def shuffled(batch, _):
    return replace(batch, pages=tuple(random.sample(batch.pages, len(batch.pages))))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda batch, _: replace(batch, position={"read": 0}),
            "the same pages again after the position",
        ),
        (lambda batch, _: replace(batch, position={"read": {1}}), "position to hold plain JSON"),
        (lambda batch, _: replace(batch, lap=7.0), "lap between 0 and 1"),
        (lambda batch, _: batch.pages, "a PageBatch"),
        (shuffled, "the same pages again after the position"),
        (paged(page_id=3), "a page_id of its own"),
        (paged(markup="markdown"), "markup to be one of wikitext, html, text"),
        (paged(text=b"bytes"), "text to be text"),
        (paged(title=None), "title to be text, found None"),
        (paged(id=7), "id to be text or None"),
        (
            lambda batch, _: replace(batch, skips=["damaged"]),
            "skips to be numbers of pages by reason",
        ),
        (
            lambda batch, _: replace(batch, skips={"damaged": "1"}),
            "skips to be numbers of pages by reason",
        ),
    ],
)
def test_what_is_wrong_is_said(folder, change, says):
    with pytest.raises(AssertionError, match=says):
        check_source(kind_of(change), notes=folder)


def test_a_number_of_articles_that_is_none(folder):
    class Told(NotesSource):
        async def open(self):
            return replace(await super().open(), articles="120")

    with pytest.raises(AssertionError, match="articles of SourceInfo to be a whole number or None"):
        check_source(read_by(Told), notes=folder)


def test_a_source_that_is_broken_only_when_it_resumes(folder):
    class Empty(NotesSource):
        async def batches(self, position):
            return
            yield

    class Kind(Notes):
        def open(self, identity, asked):
            source = super().open(identity, asked)
            return Empty(source.folder, source.checksum) if asked.resuming else source

    says = r"after the position {'read': 50}, found none instead of '17.md'"
    with pytest.raises(AssertionError, match=says):
        check_source(Kind, notes=folder)


@pytest.mark.parametrize("member", ["activity", "open", "batches", "close"])
def test_a_member_that_the_source_lacks_is_said(folder, member):
    class Lacking(NotesSource):
        def __getattribute__(self, name):
            if name == member:
                raise AttributeError(name)
            return super().__getattribute__(name)

    with pytest.raises(AssertionError, match=rf"expected the source(?: to have|'s) {member}\b"):
        check_source(read_by(Lacking), notes=folder)


def test_a_resumed_source_may_cut_its_batches_otherwise(folder, monkeypatch):
    class Kind(Notes):
        def open(self, identity, asked):
            at_once = 7 if "checksum" in identity else 50
            monkeypatch.setitem(module, "AT_ONCE", at_once)
            return super().open(identity, asked)

    check_source(Kind, notes=folder)


def test_its_batches_end_before_it_is_closed(folder):
    ended = []

    class Watched(NotesSource):
        async def batches(self, position):
            try:
                async for batch in super().batches(position):
                    yield batch
            finally:
                ended.append("batches")

        async def close(self):
            ended.append("source")

    check_source(read_by(Watched), notes=folder)
    assert ended == ["batches", "source", "source"] * 3 + ["source", "source"]


async def test_it_also_works_in_a_notebook_where_an_event_loop_is_running(folder):
    check_source(Notes, notes=folder)
    with pytest.raises(AssertionError, match="lap between 0 and 1"):
        check_source(kind_of(lambda batch, _: replace(batch, lap=7.0)), notes=folder)


def test_the_users_folder_is_found_as_by_train(folder, monkeypatch):
    monkeypatch.setenv("HOME", folder)
    check_source(Notes, notes="~")


class Folders(Notes):
    """Takes its folder from an option that may be given several times."""

    options = (Option(tuple, "folders", "Folders of notes.", needed=True),)

    def identity(self, asked):
        folders = asked[self.options[0]]
        return {"notes": folders[0], "folders": list(folders)}


@pytest.mark.parametrize("several", [list, tuple])
def test_several_texts_may_be_a_list_or_a_tuple(folder, several):
    check_source(Folders, folders=several([folder]))


class Renaming(Folders):
    def identity(self, asked):
        return {"notes": asked[self.options[0]][0]}


class Elsewhere(Folders):
    options = (Option(tuple, "folders", "Folders of notes.", needed=True, kept_as="places"),)


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        (Notes, {}, "expected a value for notes, which is needed"),
        (Notes, {"notes": 3}, "expected notes to be text, found 3"),
        (Notes, {"folder": "."}, "found 'folder'"),
        (Folders, {"folders": "."}, "expected folders to be a tuple of texts, found '"),
        (Renaming, {"folders": ["."]}, "the key 'folders'"),
        (Elsewhere, {"folders": ["."]}, "kept under its own name"),
    ],
)
def test_what_is_wrong_with_the_options_is_said(kind, options, says):
    with pytest.raises(AssertionError, match=says):
        check_source(kind, **options)
