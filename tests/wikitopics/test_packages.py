"""Models and sources of somebody else's package: they join by their entry points alone."""

import re
import shlex
import sys
from itertools import product

import numpy as np
import pytest

import wikitopics as wt
from tests import packages
from tests.session.memory import status
from wikitopics.crawler.embedded import EmbeddedWiki
from wikitopics.session.analysis.exports import TABLES

OF_SOURCES = packages.section("A source of your own")
OF_MODELS = packages.section("A model of your own")
FEW = ["--topics", 5, "--batch-size", 64, "--held-out", 40, "--seed", 3]


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
def command(notes, folder, corpus):
    """The words of the document's command, with its folder ours."""
    (command,) = packages.commands(OF_SOURCES)
    command = [folder if word == "~/notes" else word for word in command]
    return [*command, "--vocab", corpus.vocabulary, *FEW]


@pytest.fixture
def train(command, counted_here):
    return command


@pytest.mark.parametrize("section", [OF_SOURCES, OF_MODELS], ids=["source", "model"])
def test_each_is_checked_as_the_document_says(notes, unigrams, folder, monkeypatch, section):
    monkeypatch.chdir(folder.parent)
    (check,) = packages.blocks(section, "python")
    exec(check, {})


def test_a_source_is_trained_like_ours(command, one_worker, cli, notes):
    outcome = cli.ok(*command)
    now = cli.json("status")
    assert (now["source"], now["articles"], now["held_out"], now["skipped"]) == (
        "notes",
        360,
        40,
        0,
    )
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
    options = (NOTES, STARS, Option(int, "wide", "Notes of many words.", least=0))

    def identity(self, asked):
        return {**super().identity(asked), "stars": asked[STARS]}
"""


@pytest.fixture
def starred(counted_here, notes, install, folder, corpus, request):
    """The words that train on a second source, which has an option with a default beside the first
    one's."""
    source = getattr(request, "param", STARRED)
    install(source, "wikitopics.sources", starred="starred_notes:Starred")
    return ["train", "--source", "starred", "--notes", folder, "--vocab", corpus.vocabulary, *FEW]


def test_a_sources_options_are_told_and_checked_once_it_is_named(starred, cli, one_line, folder):
    told = cli("train", "--source", "starred", "--help").out
    assert "--notes FOLDER" in told
    assert "--wide N" in told
    assert "--notes" not in cli("train", "--help").out
    one_line(
        cli("train", "--source=starred", "--stars", "-1"),
        2,
        "--stars",
        "a whole number from 0",
    )
    one_line(cli("train", "--source", "starred"), 2, "--source starred needs --notes FOLDER")
    one_line(
        cli("train", "--source", "notes", "--notes", folder, "--stars", 3), 2, "No such option"
    )
    one_line(cli(*starred, "--lang", "de"), 2, "does not take --lang")
    one_line(cli("train", "--stars", 3), 2, "No such option")
    one_line(cli("train", "--source", "notes", "--wings", 3), 2, "No such option '--wings'")


def test_a_sources_options_belong_to_the_session(starred, cli, one_line):
    assert cli(*starred, "--articles", 64).code == 0
    one_line(
        cli("train", "--source", "starred", "--stars", 3),
        2,
        "--stars 3: this session was made with 0",
    )
    assert cli("train", "--source", "starred", "--stars", 0).code == 0


SETS = """
    def open(self, identity, asked):
        return SetsSource(super().open(identity, asked))


class SetsSource:
    def __init__(self, notes):
        self.notes = notes
        self.activity = notes.activity
        self.open = notes.open
        self.close = notes.close

    async def batches(self, position):
        async for batch in self.notes.batches(position):
            yield type(batch)(batch.pages, {"read": {1}}, lap=batch.lap)
"""
REPEATABLE = "    def repeatable(self, identity):\n        return True\n"


@pytest.mark.parametrize("starred", [STARRED + REPEATABLE], indirect=True)
def test_a_source_that_stays_the_same_may_be_read_several_times(starred, cli, one_line):
    one_line(cli(*starred[:2], "notes", *starred[3:], "--passes", 2), 2, "--passes 2: ")
    cli.ok(*starred, "--passes", 2)
    now = cli.json("status")
    assert (now["articles"], now["held_out"], now["passes"], now["pass"]) == (720, 40, 2, 2)


@pytest.mark.parametrize(
    "starred", [STARRED.replace('"stars": asked[', '"least": asked[')], indirect=True
)
def test_an_option_that_cannot_be_compared_is_refused_and_not_ignored(starred, cli, one_line):
    assert cli(*starred, "--articles", 64).code == 0
    one_line(
        cli("train", "--source", "starred", "--stars", 3),
        2,
        "--stars: ",
        "leave it out to resume",
    )


@pytest.mark.parametrize("starred", [STARRED + SETS], indirect=True)
def test_a_position_that_cannot_be_kept_is_one_line(starred, cli):
    outcome = cli(*starred)
    assert outcome.code == 1
    assert (
        "position of SetsSource fails: Object of type set is not JSON"
        in outcome.err.splitlines()[-1]
    )


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


def test_a_sources_vocabulary_is_built_where_it_names_a_language(
    notes,
    install,
    cli,
    counted_here,
    folder,
    home,
    samples_are_shared,
):
    install(GERMAN, "wikitopics.sources", german="german_notes:German")
    outcome = cli.ok(
        "train",
        "--source",
        "german",
        "--notes",
        folder,
        "--vocab-articles",
        200,
        *FEW,
    )
    assert (
        "the vocabulary 'german-notes' is built first, from the first 200 articles" in outcome.err
    )
    found = wt.open().status()
    assert found.articles > 64
    assert found.articles + found.held_out + found.skipped == 400
    shown = cli("vocab", "show", "--session", "default").out
    assert (home / "vocabularies" / "german-notes.txt").read_text() == shown


def test_a_source_that_is_broken_is_one_line(install, cli, one_line):
    """What else may be wrong: tests/session/test_sources.py."""
    install("raise RuntimeError('broken on purpose')", "wikitopics.sources", odd="odd_sources:Kind")
    one_line(cli("train", "--source", "odd"), 2, "--source", "'odd' (odd_sources:Kind)")
    one_line(cli("train", "--source", "odd", "--wings", 3), 2, "'odd' (odd_sources:Kind)")
    one_line(cli("train", "--wings", 3), 2, "No such option '--wings'")


def test_a_source_is_imported_only_when_it_is_named(notes, cli):
    for words in (
        ["train", "--help"],
        ["train", "--source", "note"],
        ["train", "--source", "counts"],
    ):
        cli(*words)
    assert notes.module not in sys.modules


def test_other_notes_than_the_sessions_are_refused(train, cli, one_line, folder, tmp_path):
    assert cli(*train, "--articles", 64).code == 0
    changed = cli("train", "--notes", tmp_path, "--source", "notes")
    one_line(changed, 2, "--notes", "this session was made with")
    one_line(cli("train", "--source", "api"), 2, "--source api", "notes")
    (folder / "one more.md").write_text("more")
    one_line(cli("train"), 2, "has other notes than when the session began")
    (folder / "one more.md").unlink()
    assert cli("train").code == 0


def test_a_folder_without_notes_makes_no_session(train, cli, one_line, tmp_path, home):
    empty = tmp_path / "empty"
    empty.mkdir()
    words = (empty if "notes" in str(word) and "/" in str(word) else word for word in train)
    one_line(cli(*words), 2, "no .md")
    assert not (home / "default.db").exists()


def test_a_name_that_is_no_text_is_kept_as_far_as_it_can_be_written(train, cli, folder):
    try:
        (folder / "caf\udce9.md").write_text("aaa aab")
    except OSError:
        pytest.skip("the file system takes Unicode only")
    assert cli(*train).code == 0
    assert "caf\N{REPLACEMENT CHARACTER}.md" in cli("export", "articles", "--all").out


def test_a_session_is_read_where_its_package_is_gone(
    train,
    cli,
    notes,
    one_line,
    monkeypatch,
    tmp_path,
):
    assert cli(*train, "--articles", 128).code == 0
    notes.uninstall(monkeypatch)
    one_line(cli("train"), 1, "no installed package provides the kind of source 'notes'")
    one_line(cli("train", "--source", "notes"), 2, "'notes' is not a kind of source")
    for command in ("status", "topics", "articles --topic 0", "sessions"):
        assert cli(*command.split()).code == 0, command
    assert cli("export", "model", "-o", tmp_path / "model.npz").code == 0
    assert cli("export", "articles").code == 0
    assert wt.open().infer(["aaa aab"]).shape == (1, 5)


def test_what_a_source_raises_is_told_and_loses_nothing(train, cli, folder, home):
    note = folder / "part 3" / "note 123.md"
    note.unlink()
    note.symlink_to(folder / "nowhere")
    outcome = cli(*train)
    assert outcome.code == 1
    assert "note 123.md" in outcome.err.splitlines()[-1]
    note.unlink()
    note.write_text("aaa aab")
    assert cli("train").code == 0
    assert status(home / "default.db").articles == 360


(RACE,) = packages.commands(OF_MODELS)
TABLES_OF_MODELS = [
    name for name, one in TABLES.items() if "model" in one.columns and name != "events"
]
"""The tables with rows of every model: in so short a race nothing happens to most topics."""
MODELS = {"unigrams", "lda"}
SMALL = ["--batch-size", 64, "--held-out", 40, "--seed", 3]


def test_a_model_is_imported_when_it_is_named_or_listed_with_its_options(unigrams, cli, corpus):
    assert "'unigrams'?" in cli("train", "--model", "unigram").err
    assert (
        cli("train", *corpus.options(), *SMALL, "--articles", 64, "--model", "lda:topics=3").code
        == 0
    )
    assert cli("status").code == 0
    assert unigrams.module not in sys.modules
    told = cli("train", "--model", "help").out
    assert "unigrams" in told
    assert "decay" in told


def test_a_race_against_ours_is_over_the_same_articles_and_the_same_held_out_ones(race, cli):
    models = {one["name"]: one for one in cli.json("status")["models"]}
    found = {(name, one["kind"], one["topics"]) for name, one in models.items()}
    assert found == {(name, name, 20) for name in MODELS}
    assert models["unigrams"]["updates"] == models["lda"]["updates"] > 5
    for one in models.values():
        assert 10 < one["perplexity"] < 60  # of 60 words
    points = {
        name: [m for m in wt.open().metrics(name) if m.metric == "perplexity"] for name in models
    }
    assert [m.tokens for m in points["unigrams"]] == [m.tokens for m in points["lda"]]


def test_a_model_can_be_tried_offline_as_the_document_says(unigrams, cli, counted_here):
    (started,) = re.findall(r"`python -m wikitopics\.crawler\.embedded (.*?)`", OF_MODELS)
    (added,) = re.findall(r"`(--session \w+ --api-url)`", OF_MODELS)
    wiki = EmbeddedWiki(shlex.split(started))
    try:
        outcome = cli(*RACE, *shlex.split(added), wiki.url, *SMALL, "--articles", 64)
    finally:
        wiki.stop()
    assert outcome.code == 0, outcome.err
    assert "--articles 64 has been reached" in outcome.err


def test_every_command_and_python_answer_for_a_model(race, cli, tmp_path):
    assert "unigrams   20 topics" in cli("status").out
    topics = cli.json("topics", "--top", 50)
    assert len(topics) == 20
    words = [word["word"] for word in topics[0]["words"]]
    assert len(words) == 50
    assert cli.json("articles", "--topic", topics[0]["topic"])[0]["proportion"] > 0.9
    (tmp_path / "text").write_text(" ".join(words[:9]))
    (inferred,) = cli.json("infer", tmp_path / "text")
    assert np.argmax(inferred["proportions"]) == topics[0]["topic"]
    rows = [row.split(",") for row in cli("export", "metrics").out.splitlines()]
    values = [float(row[-1]) for row in rows if row[4] == "certainty"]
    assert {row[0] for row in rows if row[4] == "certainty"} == {"unigrams"}
    assert 0 < values[0] <= values[-1] <= 1
    assert cli("export", "model", "-o", tmp_path / "model.npz").code == 0
    with np.load(tmp_path / "model.npz") as arrays:
        assert arrays["topic_word"].shape == (20, 60)
        np.testing.assert_allclose(arrays["topic_word"].sum(axis=1), 1, 1e-5)
    session = wt.open()
    model = session.model()
    assert (type(model).__name__, model.decay) == ("MixtureOfUnigrams", 0.7)
    assert len(session.topics()) == 20
    theta = session.infer(["aaa aab aac", "and of"])
    np.testing.assert_allclose(
        theta[1], model.document_prior() / model.document_prior().sum(), 1e-4
    )
    before = model.updates
    model.learn(wt.Minibatch([0, 2], [1, 2], [1, 1]))
    assert model.updates == before + 1
    assert session.model().updates == before


@pytest.mark.parametrize("what", TABLES_OF_MODELS)
def test_every_table_has_a_model(race, cli, what):
    rows = cli("export", what).out.splitlines()
    column = rows[0].split(",").index("model")
    assert {row.split(",")[column] for row in rows[1:]} == MODELS
    assert {row["model"] for row in cli.rows(what)} == MODELS


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("unigrams:decay=0.3", "decay must be a number from 0.5 to 1"),
        ("unigrams:kappa=0.7", "'kappa' is not a setting of unigrams"),
    ],
)
def test_options_that_a_model_does_not_take_are_refused(unigrams, cli, one_line, spec, says):
    one_line(cli("train", "--model", spec), 2, spec, says)


@pytest.fixture
def broken(tmp_path):
    """Somebody else's model with some of its lines changed; a test installs it."""

    def package(changes):
        module = "wikitopics_unigrams"
        source = packages.files(OF_MODELS)[f"{module}.py"]
        for line, changed in changes.items():
            assert source.count(line) == 1
            source = source.replace(line, changed)
        points = {"wikitopics.models": {"unigrams": f"{module}:MixtureOfUnigrams"}}
        packages.by_hand(tmp_path / "broken", "broken", module, source, points)
        return packages.Package(module, tmp_path / "broken")

    return package


LEARNT = "            self._note_step(batch.D, rho)\n        return theta"
SHARES = "return self.words.sum(axis=0) / self.words.sum()"
TOPICS = "def topics(self):"


def topics(wrong):
    """The changes by which only the trainer sees wrong topics."""
    return {
        "np.log(self.topics())": "np.log(self.right())",
        TOPICS: f"{TOPICS}\n        return self.right(){wrong}\n\n    def right(self):",
    }


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rho = (self": "assert self.updates < 6, 'a bug'\n            rho = (self"}, "a bug"),
        ({LEARNT: f"{LEARNT} * (3 if self.updates > 6 else 1)"}, "sums of 1 in what learn gives"),
        (
            {LEARNT: f"{LEARNT} * (np.nan if self.updates > 6 else 1)"},
            "finite numbers in what learn gives",
        ),
        (
            {LEARNT: f"{LEARNT}[:, self.updates > 6 :]"},
            "learn to give the shape (64, 20), found (64, 19)",
        ),
        ({LEARNT: f"{LEARNT} if self.updates < 7 else None"}, "learn to give an array, found None"),
        (
            {SHARES: f"{SHARES} * (np.nan if self.updates > 6 else 1)"},
            "finite numbers in what topic_shares gives",
        ),
        (topics(" * (np.nan if self.updates > 6 else 1)"), "finite numbers in what topics gives"),
        (topics("[self.updates > 6 :]"), "topics to give the shape (20, 60), found (19, 60)"),
    ],
)
def test_a_models_error_leaves_a_session_whole(
    documented,
    broken,
    cli,
    corpus,
    raced,
    states,
    home,
    monkeypatch,
    changes,
    says,
):
    failing = broken(changes)
    mended = documented("A model of your own")
    failing.install(monkeypatch)
    if says == "a bug":
        with pytest.raises(AssertionError, match=says):
            cli(*RACE, *corpus.options(), *SMALL)
    else:
        outcome = cli(*RACE, *corpus.options(), *SMALL)
        assert outcome.code == 1
        assert outcome.err.splitlines()[-1] == (
            f"wikitopics: the model of kind unigrams fails: expected {says}: "
            "fix the package, and the next `train` continues"
        )
    failing.uninstall(monkeypatch)
    mended.install(monkeypatch)
    assert cli("train").code == 0
    assert states(home / "default.db") == states(raced)


def test_a_state_of_an_older_package_is_not_called_damaged(
    documented,
    broken,
    cli,
    corpus,
    one_line,
    monkeypatch,
):
    older = documented("A model of your own")
    older.install(monkeypatch)
    cli.ok(*RACE, *corpus.options(), *SMALL, "--articles", 64)
    older.uninstall(monkeypatch)
    newer = broken(
        {
            'kind = "': 'more = 1.0\n    kind = "',
            "    entries = (\n": '    entries = (\n        Entry("more"),\n',
        }
    )
    newer.install(monkeypatch)
    missing = "model unigrams: the state's more is missing"
    one_line(cli("train"), 1, missing, "a new `version` and `upgraded`")


def test_a_session_from_before_an_option_of_its_model_goes_on(
    documented,
    broken,
    cli,
    corpus,
    monkeypatch,
):
    without_eta = {
        "        Entry.of_option(ETA),\n": "",
        "options = (ETA, DECAY)": "options = (DECAY,)",
        'kind = "': 'eta = 0.1\n    kind = "',
    }
    older = broken(without_eta)
    older.install(monkeypatch)
    cli.ok(*RACE, *corpus.options(), *SMALL, "--articles", 64)
    assert "eta" not in wt.open().model("unigrams").state()
    older.uninstall(monkeypatch)
    documented("A model of your own").install(monkeypatch)
    cli.ok("train", "--articles", 128)
    assert wt.open().model("unigrams").eta == 0.1


def test_a_model_that_is_broken_is_one_line(install, cli, one_line):
    """What else may be wrong: tests/model/test_kinds.py."""
    install("import no_such_library", "wikitopics.models", odd="odd_models:Kind")
    says = "No module named 'no_such_library'"
    one_line(cli("train", "--model", "odd"), 2, "'odd'", "odd_models:Kind", says)


# A session whose package is gone


@pytest.fixture
def left(race, unigrams, monkeypatch):
    unigrams.uninstall(monkeypatch)
    return race


def test_training_on_needs_the_package(left, cli, one_line):
    one_line(cli("train"), 1, "no installed package provides the kind of model 'unigrams'")
    begun = cli("train", "--model", "unigrams", "--session", "other")
    one_line(begun, 2, "'unigrams' is not a kind of model")


@pytest.mark.parametrize("command", ["infer", "export model -o model.npz", "topics --top 50"])
def test_what_needs_the_model_itself_says_so(left, cli, one_line, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("aaa aab")
    arguments = [*command.split(), "text"] if command == "infer" else command.split()
    one_line(cli(*arguments), 1, "'unigrams'", "package")


def test_everything_that_is_kept_can_still_be_read(left, cli, tmp_path):
    assert "unigrams   20 topics" in cli("status").out
    assert len(cli.json("topics")) == 20
    assert cli("articles", "--topic", 0).code == 0
    for command in (
        "topics --all",
        "topics --tree",
        "history",
        "history 3",
        "topics rename 3 Rivers",
    ):
        assert cli(*command.split()).code == 0, command
    for what, form in product(
        ("topics", "history", "metrics", "articles", "events"), ("csv", "json")
    ):
        assert "unigrams" in cli.ok("export", what, "--format", form).out
    assert "certainty" in cli("export", "metrics").out
    assert cli("backup", tmp_path / "copy.db").code == 0
    assert "default" in cli("sessions").out
    session = wt.open()
    assert len(session.topics()) == 20
    assert session.model("lda").n_topics == 20
    with pytest.raises(wt.SessionError, match="'unigrams'"):
        session.model()
