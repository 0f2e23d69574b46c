"""Wikimedia's rules for its server of dumps, as a user meets them; the server is reached through a proxy."""

import subprocess

import pytest
from aiohttp import web

from tests.crawler.dump_server import served
from tests.crawler.dumps import german, multistream
from tests.waiting import until

PATH = "/enwiki/latest/dump.xml.bz2"
ADDRESS = f"http://dumps.wikimedia.org{PATH}"
TRAIN = ["train", "--source", "dump", "--dump", ADDRESS, "--contact", "me@wiki-reader.org", "--yes"]
GERMAN = ["--lang", "de", "--vocab-articles", 300, "--topics", 3, "--batch-size", 64]
IN_PIECES = """
import sys
import wikitopics.crawler.dumps.remote as files
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
    async def broken(request, data):
        return web.Response(status=500)

    server.always = broken
    for _ in range(2):
        one_line(cli(*TRAIN), 3, "try again after", "in 15 minutes")
    assert len(server.asked) == 1, "nobody asks again in these 15 minutes"
    assert not list(home.glob("*.db"))


def test_a_rest_is_shown_and_ended_by_a_stop(cli, counted_here, spawn, server):
    async def broken(request, data):
        return web.Response(status=502)

    assert cli(*TRAIN, *GERMAN, "--articles", 64).code == 0
    server.acts, server.always = [None], broken  # the session opens, and then has too little to go on
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
    outcome = cli(*TRAIN, *GERMAN)
    assert outcome.code == 0
    assert "is built first, from the first 300 articles; these" in outcome.err
    assert len(server.asked) <= 3, "of a small dump, every request brings all"
