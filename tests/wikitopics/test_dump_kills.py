"""A dump read from its server by a trainer killed with -9: the same bits as from an undisturbed run."""

import asyncio
import contextlib
import subprocess
import time

import pytest

from tests.crawler.dump_server import SMALL, served
from tests.crawler.dumps import german, multistream
from wikitopics.session.errors import NoSession
from wikitopics.session.storage.reader import SessionReader

pytestmark = pytest.mark.long
PATH = "/dewiki/latest/dump.xml.bz2"
OPTIONS = ["--lang", "de", "--topics", "3", "--batch-size", "64", "--seed", "1", "--vocab-articles", "450"]
PIECES = {**SMALL, "remote.BLOCK": 400, "remote.MOST": 15_000}
"""The articles held out must not bring the whole dump with them, or it is trained before it can be killed."""
IN_SMALL_PIECES = f"""
import importlib, os, sys
os.cpu_count = lambda: 1  # one worker is started sooner
for name, value in {PIECES!r}.items():
    module, _, name = name.partition(".")
    setattr(importlib.import_module("wikitopics.crawler.dumps." + module), name, value)
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


@pytest.mark.parametrize("tokens", ["words", "links"])
def test_the_same_bits_whenever_it_was_killed(
    tokens, cli, spawn, in_small_pieces, counted_here, home, states, assert_same_states, one_line
):
    def start():
        return spawn(*train, program=("-c", IN_SMALL_PIECES), stdout=subprocess.DEVNULL)

    def text(number):
        return german(number) if tokens == "words" else f"[[{']] [['.join(german(number).split())}]]"

    data = multistream(range(1, 1401), every=10, text=text)
    with served({PATH: data}) as server:
        train = ["train", "--dump", server.url + PATH, "--tokens", tokens, *OPTIONS]
        assert cli(*train, "--session", "whole").code == 0
        next((home / "vocabularies").glob("*.txt")).unlink()
        path, gate = home / "killed.db", Gate(server)
        train += ["--session", "killed"]
        gate.kill(start(), path, lambda settings, status: settings.building and status.pending >= 50)
        for words in (["infer", __file__], ["export", "words"]):
            one_line(cli(*words, "--session", "killed"), 1, "still building its vocabulary")
        assert "no topics yet" in cli("topics", "--session", "killed").err
        one_line(cli(*train, "--vocab", "english"), 2, "leave --vocab out")
        one_line(cli(*train, "--vocab-articles", 500), 2, "--vocab-articles")
        gate.left = 0
        gate.kill(start(), path, lambda settings, status: status.articles >= 100)
        before = states(path)
        server.files[PATH] = data.replace(b"BZh9", b"BZh8", 1)
        one_line(cli("train", "--session", "killed"), 1, "has changed since this session began")
        assert_same_states(states(path), before)
        server.files[PATH] = data
        assert cli("train", "--session", "killed").code == 0
    assert_same_states(states(home / "whole.db"), states(path))
    with SessionReader(path) as one, SessionReader(home / "whole.db") as other:
        assert one.counter() == other.counter()
        assert [page for _, pages, *_ in one.all_articles(trained_only=False) for page in pages] == [
            page for _, pages, *_ in other.all_articles(trained_only=False) for page in pages
        ]
        assert one.status().crawled == 1400
