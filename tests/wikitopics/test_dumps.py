"""Dumps at the command line: rules for Wikimedia's server, counting on a cluster, trainers
killed."""

import asyncio
import contextlib
import subprocess
import time

import numpy as np
import pytest

from tests.crawler.dump_server import SMALL, says, served
from tests.crawler.dumps import dump, english_links, german, multistream
from tests.session.memory import in_order
from tests.waiting import until
from wikitopics.session.errors import NoSession
from wikitopics.session.storage.reader import SessionReader

PATH = "/enwiki/latest/dump.xml.bz2"
ADDRESS = f"http://dumps.wikimedia.org{PATH}"
TRAIN = ["train", "--source", "dump", "--dump", ADDRESS, "--contact", "me@wiki-reader.org", "--yes"]
GERMAN = ["--lang", "de", "--vocab-articles", 300, "--topics", 3, "--batch-size", 64]
IN_PIECES = """
import sys
import wikitopics.crawler.http.ranges as files
files.FIRST, files.MOST_CACHED = 5_000, 10_000
from wikitopics.cli import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def server(monkeypatch):
    with served({PATH: multistream(range(1, 601), every=10, text=german)}) as made:
        monkeypatch.setenv("http_proxy", made.url)
        yield made


def test_a_start_after_an_error_says_when_to_try_again(cli, one_line, server, home):
    server.always = says(500)
    for _ in range(2):
        one_line(cli(*TRAIN), 3, "try again after", "in 15 minutes")
    assert len(server.asked) == 1, "nobody asks again in these 15 minutes"
    assert not list(home.glob("*.db"))


def test_a_rest_is_shown_and_ended_by_a_stop(cli, counted_here, spawn, server):
    assert cli(*TRAIN, *GERMAN, "--articles", 64).code == 0
    # The session opens, and then has too little to go on.
    server.acts = [None]
    server.always = says(502)
    trainer = spawn(*TRAIN, program=("-c", IN_PIECES), stdout=subprocess.DEVNULL)
    try:
        until(lambda: "answers 502" in cli("status").out or trainer.poll() is not None)
        (waiting,) = (line for line in cli("status").out.splitlines() if line.startswith("waiting"))
        assert "dumps.wikimedia.org answers 502" in waiting
        assert "; next try in " in waiting
        assert cli("stop").code == 0
        told = trainer.communicate()[1]
        assert trainer.returncode == 0
        assert "dumps.wikimedia.org answers 502" in told
    finally:
        trainer.kill()
        trainer.wait()


def test_requests_a_minute_do_not_say_how_long_a_dump_takes(cli, counted_here, server):
    assert "is built first, from the first 300 articles; these" in cli.ok(*TRAIN, *GERMAN).err
    assert len(server.asked) <= 3, "of a small dump, every request brings all"


@pytest.fixture
def on_a_cluster(cli, tmp_path):
    path = tmp_path / "dump.xml"
    path.write_bytes(dump(range(1, 200), text="A river of water."))
    return lambda *words: cli("train", "--session", tmp_path / "s.db", "--dump", path, *words)


def test_an_unencrypted_scheduler_elsewhere_is_refused(on_a_cluster, one_line, tmp_path):
    one_line(on_a_cluster("--cluster", "tcp://10.255.255.1:8786"), 2, "--cluster-unencrypted")
    one_line(on_a_cluster("--cluster", "http://host"), 2, "not an address of a Dask scheduler")
    assert not (tmp_path / "s.db").exists()


def test_counted_words_are_not_sent_out(cli, one_line, tmp_path):
    path = tmp_path / "counts.npz"
    words = tmp_path / "words.txt"
    words.write_text("one\ntwo\n")
    np.savez(path, indptr=[0, 1], word_ids=[0], counts=[1], n_words=2)
    asked = ("train", "--session", tmp_path / "s.db", "--counts", path, "--vocab", words)
    one_line(cli(*asked, "--cluster", "localhost"), 2, "already counted")


@pytest.mark.interop
def test_no_scheduler_there(on_a_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.cluster.CONNECT_SECONDS", 1)
    outcome = on_a_cluster("--cluster", "tcp://127.0.0.1:9")
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith(
        "wikitopics: no Dask scheduler answers at tcp://127.0.0.1:9"
    )
    outcome = on_a_cluster("--cluster", "tls://127.0.0.1:9")
    assert outcome.code == 2
    assert "needs certificates" in outcome.err
    assert not (tmp_path / "s.db").exists()


@pytest.mark.interop
@pytest.mark.parametrize(
    ("text", "asked"),
    [(german, ("--lang", "de")), (english_links, ("--tokens", "links"))],
    ids=["words", "links"],
)
def test_new_words_are_counted_here_and_the_rest_there(
    text,
    asked,
    cli,
    counted_here,
    dask,
    home,
    tmp_path,
):
    """The session comes out as without a cluster, too."""
    path = tmp_path / "dewiki.xml.bz2"
    path.write_bytes(multistream(range(1, 401), text=text))
    train = (
        "train",
        "--dump",
        path,
        *asked,
        "--vocab-articles",
        250,
        "--batch-size",
        64,
        "--topics",
        3,
    )
    dask.start_scheduler()
    dask.start_worker()
    found = []
    for session, more in (("far", ("--cluster", dask.address)), ("near", ())):
        outcome = cli.ok(*train, "--seed", 1, "--session", session, *more)
        assert "is built first" in outcome.err
        assert ("counting on a cluster" in outcome.err) == bool(more)
        cli.ok("export", "model", "--session", session, "--format", "npz", "-o", tmp_path / session)
        with np.load(tmp_path / session) as arrays:
            found.append(dict(arrays))
        assert not list((home / "vocabularies").glob("*.txt")), "nobody knows of which wiki it is"
    far, near = found
    assert far.keys() == near.keys()
    assert all(np.array_equal(far[name], near[name]) for name in far)


LATEST = "/dewiki/latest/dump.xml.bz2"
OPTIONS = [
    "--lang",
    "de",
    "--topics",
    "3",
    "--batch-size",
    "64",
    "--seed",
    "1",
    "--vocab-articles",
    "450",
]
IN_SMALL_PIECES = f"""
import importlib, os, sys
os.cpu_count = lambda: 1  # one worker is started sooner
for name, value in {SMALL!r}.items():
    module, _, name = name.rpartition(".")
    setattr(importlib.import_module("wikitopics.crawler." + module), name, value)
from wikitopics.cli import run
sys.exit(run(sys.argv[1:]))
"""


class Gate:
    """Lets a request through now and then, so that a trainer has saved before it is given more."""

    def __init__(self, server):
        self.left = 0
        server.always = self.act

    async def act(self, request, data):
        while self.left <= 0:
            await asyncio.sleep(0.02)
        self.left -= 1

    def kill(self, trainer, path, reached):
        """Kill it once it has committed what ``reached`` wants of settings and status."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            assert trainer.poll() is None, trainer.communicate()
            with contextlib.suppress(NoSession), SessionReader(path) as reader:
                if reached(reader.settings(), reader.status()):
                    break
            self.left = 1
            time.sleep(0.25)
        else:
            raise AssertionError("it never committed what was waited for")
        trainer.kill()
        trainer.communicate()
        self.left = 10**9


@pytest.mark.long
@pytest.mark.parametrize("tokens", ["words", "links"])
def test_same_bits_after_any_kill(
    tokens,
    cli,
    spawn,
    in_small_pieces,
    counted_here,
    home,
    states,
    one_line,
):
    def start():
        return spawn(*train, program=("-c", IN_SMALL_PIECES), stdout=subprocess.DEVNULL)

    def text(number):
        return (
            german(number) if tokens == "words" else f"[[{']] [['.join(german(number).split())}]]"
        )

    data = multistream(range(1, 1401), every=10, text=text)
    with served({LATEST: data}) as server:
        train = ["train", "--dump", server.url + LATEST, "--tokens", tokens, *OPTIONS]
        assert cli(*train, "--session", "whole").code == 0
        path = home / "killed.db"
        gate = Gate(server)
        train += ["--session", "killed"]
        gate.kill(
            start(), path, lambda settings, status: settings.building and status.pending >= 50
        )
        for words in (["infer", __file__], ["export", "words"]):
            one_line(cli(*words, "--session", "killed"), 1, "still building its vocabulary")
        assert "no topics yet" in cli("topics", "--session", "killed").err
        one_line(cli(*train, "--vocab", "english"), 2, "leave --vocab out")
        one_line(cli(*train, "--vocab-articles", 500), 2, "--vocab-articles")
        gate.left = 0
        gate.kill(start(), path, lambda settings, status: status.articles >= 100)
        before = states(path)
        server.files[LATEST] = data.replace(b"BZh9", b"BZh8", 1)
        one_line(cli("train", "--session", "killed"), 1, "has changed since this session began")
        assert states(path) == before
        server.files[LATEST] = data
        assert cli("train", "--session", "killed").code == 0
    assert states(home / "whole.db") == states(path)
    assert in_order(path) == in_order(home / "whole.db")
    with SessionReader(path) as one, SessionReader(home / "whole.db") as other:
        assert one.counter() == other.counter()
        assert one.status().crawled == 1400
