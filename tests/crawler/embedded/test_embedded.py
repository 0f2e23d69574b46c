"""The embedded wiki: its sample, MediaWiki's cursors, the same articles always, every misdeed
survived."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from tests.corpora import synthetic_corpus
from tests.crawler import laps
from tests.waiting import gone, until
from tests.wiki import PAGE_KINDS, REQUEST_KINDS, Faults, FaultyApi, make_app, render_page
from wikitopics.crawler.embedded import DemoSource, EmbeddedWiki
from wikitopics.crawler.embedded import __main__ as program
from wikitopics.crawler.embedded.api import ApiError
from wikitopics.crawler.embedded.corpus import SampleArticles, load_sample
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.markup.html import extract_html
from wikitopics.crawler.markup.wikitext import extract_wikitext
from wikitopics.crawler.mediawiki.api import ApiSource
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.vocab import Vocabulary


@pytest.fixture(scope="module")
def sample():
    return load_sample()


def test_it_is_small_enough_to_ship():
    assert (
        len((resources.files("wikitopics.crawler") / "data" / "sample.xz").read_bytes()) < 3_000_000
    )


def test_twenty_thousand_articles_with_titles_of_their_own(sample):
    assert len(sample.titles) == len(set(sample.titles)) == 20_000
    assert all(title.strip() and title.isprintable() for title in sample.titles)
    assert "may refer to" not in " ".join(sample.titles)


def test_the_rows_are_well_formed_over_the_shipped_words_and_stubs_are_everywhere(sample):
    assert sample.indptr[0] == 0
    assert sample.indptr[-1] == len(sample.word_ids) == len(sample.counts)
    assert np.diff(sample.indptr).min() >= 3
    assert sample.counts.min() == 1
    assert sample.counts.max() <= 255
    assert (sample.word_ids.min(), sample.word_ids.max()) == (0, len(sample.words) - 1)
    inside = np.ones(len(sample.word_ids), dtype=bool)
    inside[sample.indptr[:-1]] = False
    assert (np.diff(sample.word_ids, prepend=0)[inside] > 0).all()
    assert set(sample.words) <= set(Vocabulary.load("english").words)
    assert len(sample.words) > 7_900
    totals = np.add.reduceat(sample.counts, sample.indptr[:-1])
    for tenth in np.split(totals, 10):
        assert 300 < (tenth < 30).sum() < 500


def test_an_article_is_about_its_title(sample):
    at = sample.titles.index("Science and technology in Brussels")
    row = slice(sample.indptr[at], sample.indptr[at + 1])
    words = [sample.words[i] for i in sample.word_ids[row]]
    counts = dict(zip(words, sample.counts[row].tolist(), strict=True))
    assert (counts["brussels"], counts["universities"]) == (3, 4)


CORPUS = synthetic_corpus(60)
LIST = {"action": "query", "generator": "random"}
TEXTS = {**LIST, "prop": "revisions|pageprops", "rvprop": "ids|content", "rvslots": "main"}


def wiki(size=100, seed=0, **options):
    return FaultyApi(SampleArticles(CORPUS, size, seed), **options)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100, 997])
@pytest.mark.parametrize("limit", [1, 3, 50, 500])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_lap_meets_every_article_once_in_order(size, limit, seed):
    """However often a batch is listed again, and wherever the cursor wraps."""
    api = wiki(size, faults=Faults(seed=seed))
    found = []
    flags = []
    continuation = {}
    while True:
        query = {**LIST, "grnlimit": str(limit), **continuation}
        reply = api.answer(query)
        found += [page["pageid"] for page in reply.get("query", {}).get("pages", [])]
        assert limit < 50 or api.answer(query) == reply
        if "continue" not in reply:
            break
        continuation = {"grncontinue": reply["continue"]["grncontinue"]}
        _, _, _, flag = continuation["grncontinue"].split("|")
        flags.append(flag)
    assert found == list(range(1, size + 1))
    assert sorted(flags) == flags
    assert size < 100 or limit > 3 or set(flags) == {"0", "1"}


@pytest.mark.parametrize(
    "cursor", ["", "x", "1|2|3|4", "0.1|0.2|3", "0.1|0.2|x|0", "0.1|0.2|3|2", "0.1|0.2|3|0|0"]
)
def test_a_cursor_that_is_none(cursor):
    with pytest.raises(ApiError, match="badcontinue"):
        wiki().answer({**LIST, "grncontinue": cursor})


def test_truncated_by_size():
    api = wiki(30, most_bytes=20_000)
    reply = api.answer({**TEXTS, "grnlimit": "20"})
    pages = reply["query"]["pages"]
    assert len(pages) == 20
    assert 0 < sum("revisions" in p for p in pages) < 20
    assert "batchcomplete" not in reply
    again = api.answer({**TEXTS, "grnlimit": "20", **reply["continue"]})
    assert [p["pageid"] for p in again["query"]["pages"]] == [p["pageid"] for p in pages]
    both = pages, again["query"]["pages"]
    first, second = ({p["pageid"] for p in part if "revisions" in p} for part in both)
    assert second
    assert not first & second


def test_articles_are_always_the_same_and_of_the_corpus():
    one = wiki(500)
    two = wiki(500)
    other = wiki(500, seed=9)
    assert [one.wikitext(i) for i in (0, 59, 60, 499)] == [
        two.wikitext(i) for i in (0, 59, 60, 499)
    ]
    assert one.wikitext(60) != other.wikitext(60)
    assert len({one.wikitext(i) for i in range(200)}) == 200
    articles = SampleArticles(CORPUS, 60)
    for index in range(60):
        span = slice(CORPUS.indptr[index], CORPUS.indptr[index + 1])
        counted = np.unique(articles.article(index).word_ids, return_counts=True)
        np.testing.assert_array_equal(counted, (CORPUS.word_ids[span], CORPUS.counts[span]))


def test_pages_that_do_not_exist_are_listed_as_missing():
    by_id = wiki(10).answer({"action": "query", "pageids": "0|1|11"})["query"]["pages"]
    assert [(page["pageid"], page.get("missing")) for page in by_id] == [
        (0, True),
        (1, None),
        (11, True),
    ]


async def crawl(url, clock, stall_seconds=30.0):
    """The ids of all articles of the wiki, and the number of pages skipped."""
    options = {
        "clock": clock,
        "bounds": RequestBounds(most_bytes=4 << 20, stall_seconds=stall_seconds),
    }
    pages, skipped = await laps.crawl(lambda: ApiSource(Wiki(url, version="0", **options), 10), 3)
    return [page.page_id for page in pages], skipped


PASSING = [kind for kind in REQUEST_KINDS if kind != "403"]


@pytest.mark.parametrize("kind", PASSING)
async def test_each_fault_costs_no_article(kind, serve, clock):
    api = wiki(100, faults=Faults({kind: 0.3}, seed=5))
    stall_seconds = 0.3 if kind == "stall" else 30.0
    read, skipped = await crawl(await serve(api), clock, stall_seconds=stall_seconds)
    assert sorted(read) == list(range(1, 101))
    assert skipped == 0


async def test_all_faults_together(serve, clock):
    rates = dict.fromkeys(PASSING, 0.02) | {
        "deleted": 0.1,
        "disambiguation": 0.1,
        "oversized": 0.02,
    }
    api = wiki(300, faults=Faults(rates, seed=11), most_bytes=200_000)
    read, skipped = await crawl(await serve(api), clock, stall_seconds=0.3)
    lost = {i + 1 for i in range(300) if any(api.faults.hits(kind, i) for kind in PAGE_KINDS)}
    assert len(lost) > 30
    assert sorted(read) == sorted(set(range(1, 301)) - lost)
    assert skipped == len(lost)


COMMAND = [sys.executable, "-m", "wikitopics.crawler.embedded", "--size", "5"]


def started(stdin):
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(COMMAND, stdin=stdin, text=True, **pipes)
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    return process


def test_the_process_ends_with_its_standard_input():
    with started(subprocess.PIPE) as process:
        process.stdin.close()
        assert process.wait() == 0


def test_it_ends_silently_where_nobody_reads_its_address():
    reads, writes = os.pipe()
    os.close(reads)
    with subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=writes,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(writes)
        assert process.wait() == 0
        assert process.stderr.read() == b""


def test_it_runs_in_the_background_of_a_script_until_it_is_told_to_end():
    with started(subprocess.DEVNULL) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.terminate()
        assert (process.communicate()[1], process.returncode) == ("", 0)


def test_a_port_in_use_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*COMMAND, "--port", str(port)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    told = f"cannot listen on port {port}: address already in use; try another --port\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", told)


async def test_it_can_be_told_to_end_as_soon_as_it_tells_its_address(monkeypatch):
    def told(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(program, "print", told, raising=False)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        try:
            await program.serve(make_app(wiki(5)), 0)
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(signal.SIGTERM, before)


def test_launch_and_stop():
    running = EmbeddedWiki(["--size", "5"])
    assert running.url.startswith("http://127.0.0.1:")
    os.kill(running._process.pid, 0)
    running.stop()
    running.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(running._process.pid, 0)


def test_it_dies_with_a_parent_that_is_killed():
    script = (
        "from wikitopics.crawler.embedded import EmbeddedWiki\n"
        "wiki = EmbeddedWiki(); print(wiki._process.pid, flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], text=True, **pipes) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        # The child holds our pipe's end no longer than it lives: its own standard output is
        # another.
        until(lambda: gone(child))


def test_the_prose_holds_the_counts():
    """Out of both markups comes every word as often as the counts say, and no other of the
    corpus."""
    api = wiki(7_000_000)
    known = {word: i for i, word in enumerate(CORPUS.words)}
    for index in (*range(80), 12_345, 6_999_999):
        article = api.articles.article(index)
        page = render_page(article.title, *api.ids(index), api.writer.html(article))
        for prose in (extract_wikitext(api.wikitext(index)), extract_html(page)):
            words = re.findall(r"[^\W\d_]+", prose.lower())
            assert sorted(known[w] for w in words if w in known) == sorted(
                article.word_ids.tolist()
            )


async def test_a_pace_holds_articles_back_until_it_is_ended():
    source = DemoSource("test", 400, 1e9)
    await source.open()
    batches = source.batches(None)
    numbers = [page.page_id for page in (await anext(batches)).pages]
    second = asyncio.ensure_future(anext(batches))
    assert not (await asyncio.wait({second}, timeout=0.5))[0]
    source.activity.pace = 0.0
    numbers += [page.page_id for page in (await second).pages]
    numbers += [page.page_id async for batch in batches for page in batch.pages]
    assert len(set(numbers)) == len(numbers) == 400
    await source.close()
