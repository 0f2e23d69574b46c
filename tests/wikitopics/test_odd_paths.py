"""Every command with every odd name of a file or folder: it works, or says in one line that it
cannot, before anything is made."""

import json
import os
import random
import shutil
from pathlib import Path

import pytest

import wikitopics as wt
from tests.crawler.dumps import dump
from wikitopics.extra import REPORT

NAMES = {
    "newline": "a\nb",
    "escape": "a\x1b[2Jb",
    "no-break space": "a\u00a0b",
    "ideographic space": "資料\u3000集",
    "not UTF-8": os.fsdecode(b"caf\xe9"),
    "leading dash": "-rf",
    "double dash": "--yes",
    "emoji, right to left, decomposed": "🦊👩\u200d💻 a\u202eb cafe\u0301",
    "long": "x" * 180,
    "spaces around": " a ",
    "of an address": "100%41%?mode=ro#b",
    "address": "file:a",
    "of a shell": "a'b\"c [b]*{c} \\x=b,c;d&e $HOME `id`",
    "tilde": "~nobody-of-this-name",
}
ALWAYS = ("newline", "escape", "ideographic space", "not UTF-8", "leading dash", "of an address")
"""The odd names that are tried in every run of the tests."""
TO_PROCESSES = ("newline", "not UTF-8", "emoji, right to left, decomposed")
"""The odd names with which other processes count and train, and are told the name; starting them
takes longer than all the rest."""
FEW = ("--topics", "2", "--held-out", "5", "--batch-size", "16", "--seed", "3", "--passes", "1")
WORDS = sorted(a + b for a in ("river", "song", "theorem") for b in "abcdefghijkl")
TEXTS = [
    " ".join(random.Random(n).choices(WORDS[n % 3 * 12 :][:12], k=8)) + f" number{n}"
    for n in range(40)
]

pytestmark = pytest.mark.filterwarnings("ignore")


def _names():
    for called, name in NAMES.items():
        marks = () if called in ALWAYS else pytest.mark.long
        yield pytest.param(name, id=called, marks=marks)


@pytest.fixture
def without_charts(monkeypatch):
    """Reports are made without their charts, which tell no names of files and take longest."""
    if not REPORT.missing():
        from wikitopics.session.analysis.report import pictures

        def no_chart(_, curves, *__):
            return pictures.Chart("", [(0, "", [""] * len(curves))])

        monkeypatch.setattr(pictures, "chart", no_chart)


@pytest.fixture(params=_names())
def odd(request, tmp_path, without_charts):
    """A folder of such a name, which is empty. Files in it get its name, too."""
    is_for_processes = request.param in [NAMES[called] for called in TO_PROCESSES]
    request.getfixturevalue("one_worker" if is_for_processes else "trainers_run_here")
    folder = tmp_path / request.param
    folder.mkdir()
    return folder


@pytest.fixture
def tried(cli, odd, home):
    """Runs a command: it works, or, for a name that is not UTF-8, fails in one line and makes
    nothing."""

    def run(*words):
        before = {path for folder in (odd, home) for path in folder.rglob("*")}
        done = cli(*words)
        assert "Traceback" not in done.err
        assert "damaged" not in done.err
        assert "\x1b" not in done.out + done.err
        if done.code:
            assert done.code in (1, 2)
            assert done.err.count("\n") == 1, done.err
            assert "this name is not UTF-8, so no session can store it" in done.err
            assert not is_text(odd)
            assert before == {path for folder in (odd, home) for path in folder.rglob("*")}
        return done

    return run


def named(odd, ending):
    return odd / f"{odd.name}{ending}"


def is_text(odd):
    return "\udce9" not in odd.name


def test_what_is_trained_on(tried, cli, odd, corpus_of, home):
    corpus = corpus_of(40)
    counts = named(odd, ".npz")
    words = named(odd, ".txt")
    shutil.copy(corpus.counts, counts)
    shutil.copy(corpus.vocabulary, words)
    texts = named(odd, ".jsonl")
    table = named(odd, ".csv")
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    table.write_text("text\n" + "\n".join(TEXTS) + "\n")
    pages = named(odd, ".xml")
    seeds = named(odd, ".seeds.txt")
    pages.write_bytes(dump(range(1, 41), text=" ".join(WORDS[:9])))
    seeds.write_text("first: riverb riverc\n")
    folder = odd / "folder"
    folder.mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"{number}{odd.name[:200]}.txt").write_text(text)
    of_words = home.parent / "words.txt"
    of_words.write_text("\n".join(WORDS))
    sources = {
        "counts": ("--counts", counts, "--vocab", words),
        "texts": ("--texts", texts, "--vocab", of_words),
        "table": ("--texts", table, "--vocab", of_words, "--seeds", seeds),
        "folder": ("--texts", folder, "--vocab", of_words),
        "dump": ("--dump", pages, "--vocab", of_words),
        "log": (
            "--counts",
            corpus.counts,
            "--vocab",
            corpus.vocabulary,
            "--log",
            named(odd, ".log"),
        ),
    }
    for name, source in sources.items():
        trained = tried("train", "--session", name, *source, *FEW)
        if trained.code:
            continue
        assert is_text(odd) or name == "log"
        for again in (("train", "--session", name), ("train", "--session", name, *source)):
            assert tried(*again).code == 0
        for command in ("status", "topics"):
            cli.ok(command, "--session", name)
        # It tells the name that it was given, of a table and a folder as of other texts.
        if name in ("counts", "texts", "dump") and not REPORT.missing():
            cli.ok("report", "--session", name, "-o", home.parent / "r.html")
        cli.ok("backup", home.parent / f"{name}.db", "--session", name)
        cli.ok("status", "--session", home.parent / f"{name}.db")
    more = named(odd, "-more.jsonl")
    shutil.copy(texts, more)
    plain = home.parent / "plain.jsonl"
    plain.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    cli.ok("train", "--session", "plain", "--texts", plain, "--vocab", of_words, *FEW)
    if tried("train", "--session", "plain", "--texts", more).code == 0:
        assert is_text(odd)
    assert cli.json("status", "--session", "plain")["models"]


def test_what_is_written_and_read(tried, cli, odd, trained, monkeypatch):
    cli.ok("export", "topics", "-o", named(odd, ".csv"))
    cli.ok("export", "model", "-o", named(odd, ".npz"))
    if not REPORT.missing():
        cli.ok("report", "-o", named(odd, ".html"))
    cli.ok("backup", named(odd, ".db"))
    copy = named(odd, ".db")
    text = named(odd, ".txt")
    text.write_text(" ".join(wt.open(copy).topics()[0].words) + "\n")
    cli.ok("infer", text)
    cli.ok("similar", text)
    cli.ok("topics", "--session", copy)
    cli.ok("topics", "rename", "0", "a name", "--session", copy)
    cli.ok("export", "topics", "--session", copy)
    cli.ok("train", "--session", copy)
    cli.ok("compare", copy, trained)
    cli.ok("doctor", "--offline", "--session", copy)
    many = named(odd, ".jsonl")
    stop = named(odd, ".stop")
    built = named(odd, ".vocab.txt")
    many.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    stop.write_text("rivera\nriverb\n")
    cli.ok("vocab", "build", many, "-o", built, "--stop-words", stop)
    assert "rivera" not in cli.ok("vocab", "show", built).out
    relative = Path(os.path.relpath(copy, odd.parent))
    monkeypatch.chdir(odd.parent)
    if not str(relative).startswith(("-", "~")):
        cli.ok("status", "--session", relative)
    cli.ok("backup", "--session", copy, "--", f"{relative}.copy")
    cli.ok("sessions", "rm", "--yes", "--", copy)
    assert not copy.exists()
    session = wt.open(trained)
    session.export("topics", named(odd, ".tsv"))
    for name in (f"{odd.name}.json", f"{odd.name}.tsv"):
        monkeypatch.chdir(odd)
        if not name.startswith("~"):
            session.export("topics", name)
            assert (odd / name).exists()


def test_the_session_folder(tried, cli, odd, corpus, monkeypatch, tmp_path):
    monkeypatch.setenv("WIKITOPICS_HOME", str(odd))
    assert tried("train", *corpus.options(), *FEW).code == 0
    assert tried("train").code == 0
    cli.ok("status")
    assert cli.ok("sessions").out.startswith("default ")
    cli.ok("topics", "rename", "0", "a name")
    cli.ok("doctor", "--offline")
    cli.ok("backup", tmp_path / "copy.db")
    assert wt.sessions()[0].topics()[0].words

    def learn():
        return wt.train(TEXTS, "notes", topics=2, model="scvb0", vocabulary=WORDS)

    if is_text(odd):
        assert learn().status().state == "finished"
        assert wt.open("notes").proportions(frame=True) is not None
        wt.delete("notes")
    else:
        with pytest.raises(ValueError, match="this name is not UTF-8, so no session can store it"):
            learn()
        assert not [path for path in odd.iterdir() if path.name.startswith("notes")]
    cli.ok("sessions", "rm", "default", "--yes")
    assert not list(odd.glob("*.db"))
