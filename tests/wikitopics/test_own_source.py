"""A source of somebody else's package: it joins by its entry point, and not a line of ours knows of it."""

import sys

import pytest

import wikitopics as wt
from tests import packages
from wikitopics.session.storage.reader import SessionReader

SECTION = packages.section("A source of your own")
SMALL = ["--topics", 5, "--batch-size", 64, "--held-out", 40, "--seed", 3]


@pytest.fixture
def notes(documented, monkeypatch):
    package = documented("A source of your own")
    package.install(monkeypatch)
    return package


@pytest.fixture
def folder(tmp_path, corpus):
    """400 notes of 20 words each, in folders of 40."""
    for number in range(400):
        note = tmp_path / "notes" / f"part {number // 40}" / f"note {number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        first = 12 * (number % 5)
        words = [corpus.words[first + (number * i) % 12] for i in range(1, 21)]
        note.write_text(f"# {' '.join(words[:3])}\n\n{' '.join(words[3:])}\n")
    return tmp_path / "notes"


@pytest.fixture
def train(notes, folder, corpus):
    """The words of the document's command, with its folder ours."""
    (command,) = packages.commands(SECTION)
    command = [folder if word == "~/notes" else word for word in command]
    return [*command, "--vocab", corpus.vocabulary, *SMALL]


def test_it_is_checked_as_the_document_says(notes, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (check,) = packages.blocks(SECTION, "python")
    exec(check, {})


def test_it_is_trained_like_ours(train, cli, notes):
    outcome = cli.ok(*train)
    now = cli.json("status")
    assert (now["source"], now["articles"], now["held_out"], now["skipped"]) == ("notes", 360, 40, 0)
    titles = {article.title for article in wt.open().articles(limit=500)}
    assert len(titles) == 400
    assert "part 3/note 123.md" in titles
    assert "every article has been read once" in outcome.err


STARRED = """
from wikitopics.crawler import Option
from wikitopics_notes import NOTES, Notes

STARS = Option(int, "stars", "Only notes with so many stars.", metavar="N", least=0, default=0)


class Starred(Notes):
    name = "starred"
    label = "Notes with stars"
    options = (NOTES, STARS)

    def identity(self, asked):
        return {**super().identity(asked), "stars": asked[STARS]}
"""


@pytest.fixture
def starred(notes, install, folder, corpus, request):
    """The words that train on a second source, which has an option with a default beside the first one's."""
    source = getattr(request, "param", STARRED)
    install(source, "wikitopics.sources", starred="starred_notes:Starred")
    return ["train", "--source", "starred", "--notes", folder, "--vocab", corpus.vocabulary, *SMALL]


def test_its_options_are_told_and_checked_once_it_is_named(starred, cli, one_line, folder):
    assert "--notes FOLDER" in cli("train", "--source", "starred", "--help").out
    assert "--notes" not in cli("train", "--help").out
    one_line(cli("train", "--source=starred", "--stars", "-1"), 2, "--stars", "a whole number from 0")
    one_line(cli("train", "--source", "starred"), 2, "--source starred needs --notes FOLDER")
    one_line(cli("train", "--source", "notes", "--notes", folder, "--stars", 3), 2, "--source starred")
    one_line(cli(*starred, "--lang", "de"), 2, "does not take --lang")
    one_line(cli("train", "--stars", 3), 2, "--stars goes with --source starred")
    one_line(cli("train", "--source", "notes", "--wings", 3), 2, "No such option '--wings'")


def test_its_options_belong_to_the_session(starred, cli, one_line):
    assert cli(*starred, "--articles", 64).code == 0
    changed = cli("train", "--source", "starred", "--stars", 3)
    one_line(changed, 2, "--stars 3: this session was made with 0")
    assert cli("train", "--source", "starred", "--stars", 0).code == 0


@pytest.mark.parametrize("starred", [STARRED.replace('"stars": asked[', '"least": asked[')], indirect=True)
def test_an_option_that_cannot_be_compared_is_refused_and_not_ignored(starred, cli, one_line):
    assert cli(*starred, "--articles", 64).code == 0
    one_line(cli("train", "--source", "starred", "--stars", 3), 2, "--stars: ", "leave it out to resume")


GERMAN = """
from wikitopics_notes import Notes


class German(Notes):
    name = "german"
    label = "German notes"

    def language(self, asked):
        return "de"

    def builds_words(self, asked):
        return True

    def vocabulary_name(self, asked):
        return "german-notes"
"""


def test_its_vocabulary_is_built_where_it_names_a_language(notes, install, cli, folder, home):
    install(GERMAN, "wikitopics.sources", german="german_notes:German")
    outcome = cli.ok("train", "--source", "german", "--notes", folder, "--vocab-articles", 200, *SMALL)
    assert "the vocabulary 'german-notes' is built first, from the first 200 articles" in outcome.err
    found = wt.open().status()
    assert found.articles > 64
    assert found.articles + found.held_out + found.skipped == 400
    assert (home / "vocabularies" / "german-notes.txt").read_text() == cli(
        "vocab", "show", "--session", "default"
    ).out


def test_one_that_is_broken_is_one_line(install, cli, one_line):
    """What else may be wrong: tests/session/test_sources.py."""
    install("raise RuntimeError('broken on purpose')", "wikitopics.sources", odd="odd_sources:Kind")
    one_line(cli("train", "--source", "odd"), 2, "--source", "'odd' (odd_sources:Kind)")
    one_line(cli("train", "--source", "odd", "--wings", 3), 2, "'odd' (odd_sources:Kind)")
    one_line(cli("train", "--wings", 3), 2, "No such option '--wings'")


def test_it_is_imported_only_when_it_is_named(notes, cli):
    for words in (["train", "--help"], ["train", "--source", "note"], ["train", "--source", "counts"]):
        cli(*words)
    assert notes.module not in sys.modules


def test_other_notes_than_the_sessions_are_refused(train, cli, one_line, folder, tmp_path):
    assert cli(*train, "--articles", 64).code == 0
    one_line(
        cli("train", "--notes", tmp_path, "--source", "notes"), 2, "--notes", "this session was made with"
    )
    one_line(cli("train", "--source", "api"), 2, "--source api", "notes")
    (folder / "one more.md").write_text("more")
    one_line(cli("train"), 2, "has other notes than when the session began")
    (folder / "one more.md").unlink()
    assert cli("train").code == 0


def test_a_folder_without_notes_makes_no_session(train, cli, one_line, tmp_path, home):
    empty = tmp_path / "empty"
    empty.mkdir()
    one_line(
        cli(*(empty if "notes" in str(word) and "/" in str(word) else word for word in train)), 2, "no .md"
    )
    assert not (home / "default.db").exists()


def test_a_name_that_is_no_text_is_kept_as_far_as_it_can_be_written(train, cli, folder):
    try:
        (folder / "caf\udce9.md").write_text("aaa aab")
    except OSError:
        pytest.skip("the file system takes Unicode only")
    assert cli(*train).code == 0
    assert "caf\N{REPLACEMENT CHARACTER}.md" in cli("export", "articles", "--all").out


def test_a_session_is_read_where_its_package_is_gone(train, cli, notes, one_line, monkeypatch, tmp_path):
    assert cli(*train, "--articles", 128).code == 0
    notes.uninstall(monkeypatch)
    one_line(cli("train"), 1, "no installed package provides the kind of source 'notes'")
    one_line(cli("train", "--source", "notes"), 2, "'notes' is not a kind of source")
    for command in ("status", "topics", "articles --topic 0", "sessions"):
        assert cli(*command.split()).code == 0, command
    assert cli("export", "model", "-o", tmp_path / "model.npz").code == 0
    assert cli("export", "articles").code == 0
    assert wt.open().infer(["aaa aab"]).shape == (1, 5)


def test_what_it_raises_is_told_and_loses_nothing(train, cli, folder, home):
    note = folder / "part 3" / "note 123.md"
    note.unlink()
    note.symlink_to(folder / "nowhere")
    outcome = cli(*train)
    assert outcome.code == 1
    assert "note 123.md" in outcome.err.splitlines()[-1]
    note.unlink()
    note.write_text("aaa aab")
    assert cli("train").code == 0
    with SessionReader(home / "default.db") as reader:
        assert reader.status().articles == 360
