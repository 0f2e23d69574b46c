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
from tests.crawler.dumps import ids
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


def test_the_sample_is_small_enough_to_ship():
    path = resources.files("wikitopics.crawler") / "data" / "sample.xz"
    assert len(path.read_bytes()) < 3_000_000


def test_twenty_thousand_articles_with_titles_of_their_own(sample):
    assert len(sample.titles) == 20_000
    assert len(set(sample.titles)) == 20_000
    assert all(title.strip() and title.isprintable() for title in sample.titles)
    assert "may refer to" not in " ".join(sample.titles)


def test_articles_are_rows_of_ascending_word_ids_with_small_counts(sample):
    assert sample.indptr[0] == 0
    assert sample.indptr[-1] == len(sample.word_ids)
    assert len(sample.word_ids) == len(sample.counts)
    assert np.diff(sample.indptr).min() >= 3
    assert sample.counts.min() == 1
    assert sample.counts.max() <= 255
    assert sample.word_ids.min() == 0
    assert sample.word_ids.max() == len(sample.words) - 1
    is_first_of_its_row = np.zeros(len(sample.word_ids), dtype=bool)
    is_first_of_its_row[sample.indptr[:-1]] = True
    growth = np.diff(sample.word_ids, prepend=0)
    assert (growth[~is_first_of_its_row] > 0).all()


def test_the_words_of_the_sample_are_those_of_the_shipped_vocabulary(sample):
    assert set(sample.words) <= set(Vocabulary.load("english").words)
    assert len(sample.words) > 7_900


def test_stubs_are_everywhere_in_the_sample(sample):
    lengths = np.add.reduceat(sample.counts, sample.indptr[:-1])
    for lengths_of_a_tenth in np.split(lengths, 10):
        n_stubs = (lengths_of_a_tenth < 30).sum()
        assert 300 < n_stubs < 500


def test_an_article_is_about_its_title(sample):
    article = sample.titles.index("Science and technology in Brussels")
    row = slice(sample.indptr[article], sample.indptr[article + 1])
    words = [sample.words[word_id] for word_id in sample.word_ids[row]]
    counts = dict(zip(words, sample.counts[row].tolist(), strict=True))
    assert counts["brussels"] == 3
    assert counts["universities"] == 4


CORPUS = synthetic_corpus(60)
LIST = {"action": "query", "generator": "random"}
TEXTS = {**LIST, "prop": "revisions|pageprops", "rvprop": "ids|content", "rvslots": "main"}


def wiki(size=100, seed=0, **options):
    """A wiki of so many articles; the page id of an article is its index plus 1."""
    return FaultyApi(SampleArticles(CORPUS, size, seed), **options)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100, 997])
@pytest.mark.parametrize("limit", [1, 3, 50, 500])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_lap_meets_every_article_once_in_order(size, limit, seed):
    """A batch that is listed again is the same, and the cursor may wrap anywhere."""
    api = wiki(size, faults=Faults(seed=seed))
    found = []
    flags = []
    continuation = {}
    while True:
        query = {**LIST, "grnlimit": str(limit), **continuation}
        reply = api.answer(query)
        if "query" in reply:
            found += [page["pageid"] for page in reply["query"].get("pages", [])]
        if limit >= 50:
            assert api.answer(query) == reply
        if "continue" not in reply:
            break
        cursor = reply["continue"]["grncontinue"]
        continuation = {"grncontinue": cursor}
        _, _, _, flag = cursor.split("|")
        flags.append(flag)
    assert found == list(range(1, size + 1))
    assert sorted(flags) == flags
    if size >= 100 and limit <= 3:
        assert set(flags) == {"0", "1"}, "before and after the cursor has wrapped"


@pytest.mark.parametrize(
    "cursor", ["", "x", "1|2|3|4", "0.1|0.2|3", "0.1|0.2|x|0", "0.1|0.2|3|2", "0.1|0.2|3|0|0"]
)
def test_a_cursor_that_is_none_is_refused(cursor):
    with pytest.raises(ApiError, match="badcontinue"):
        wiki().answer({**LIST, "grncontinue": cursor})


def ids_of(pages):
    return [page["pageid"] for page in pages]


def test_a_reply_that_would_be_too_large_is_continued_with_the_other_texts():
    api = wiki(30, most_bytes=20_000)
    reply = api.answer({**TEXTS, "grnlimit": "20"})
    pages = reply["query"]["pages"]
    with_text = [page for page in pages if "revisions" in page]
    assert len(pages) == 20
    assert 0 < len(with_text) < 20
    assert "batchcomplete" not in reply
    continued = api.answer({**TEXTS, "grnlimit": "20", **reply["continue"]})
    pages_again = continued["query"]["pages"]
    assert ids_of(pages_again) == ids_of(pages)
    with_text_then = [page for page in pages_again if "revisions" in page]
    assert with_text_then
    assert not set(ids_of(with_text)) & set(ids_of(with_text_then))


def test_articles_are_always_the_same_by_their_seed():
    one = wiki(500)
    again = wiki(500)
    for index in (0, 59, 60, 499):
        assert one.wikitext(index) == again.wikitext(index)
    of_another_seed = wiki(500, seed=9)
    assert one.wikitext(60) != of_another_seed.wikitext(60)
    assert len({one.wikitext(index) for index in range(200)}) == 200


def test_the_first_articles_have_the_words_of_the_corpus():
    articles = SampleArticles(CORPUS, 60)
    for index in range(60):
        row = slice(CORPUS.indptr[index], CORPUS.indptr[index + 1])
        word_ids, counts = np.unique(articles.article(index).word_ids, return_counts=True)
        np.testing.assert_array_equal(word_ids, CORPUS.word_ids[row])
        np.testing.assert_array_equal(counts, CORPUS.counts[row])


def test_pages_that_do_not_exist_are_listed_as_missing():
    reply = wiki(10).answer({"action": "query", "pageids": "0|1|11"})
    pages = reply["query"]["pages"]
    assert ids_of(pages) == [0, 1, 11]
    assert [page.get("missing") for page in pages] == [True, None, True]


async def crawl(url, clock, stall_seconds=30.0):
    """The ids of all articles of the wiki, and the number of pages skipped."""
    bounds = RequestBounds(most_bytes=4 << 20, stall_seconds=stall_seconds)

    def make():
        return ApiSource(Wiki(url, version="0", clock=clock, bounds=bounds), 10)

    pages, skipped = await laps.crawl(make, 3)
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
    good = []
    for index in range(300):
        if not any(api.faults.hits(kind, index) for kind in PAGE_KINDS):
            good.append(index + 1)
    assert len(good) < 300 - 30
    assert sorted(read) == good
    assert skipped == 300 - len(good)


COMMAND = [sys.executable, "-m", "wikitopics.crawler.embedded", "--size", "5"]


def started(stdin):
    """The process of a wiki, which has told its address."""
    process = subprocess.Popen(
        COMMAND,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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
        _, errors = process.communicate()
        assert errors == ""
        assert process.returncode == 0


def test_a_port_in_use_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        _, port = taken.getsockname()
        command = [*COMMAND, "--port", str(port)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr == (
        f"cannot listen on port {port}: address already in use; try another --port\n"
    )


async def test_it_can_be_told_to_end_as_soon_as_it_tells_its_address(monkeypatch):
    def end_when_it_prints(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(program, "print", end_when_it_prints, raising=False)
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


def test_the_prose_of_both_markups_has_the_words_of_the_article():
    """Each word of the corpus comes as often as the article's counts say."""
    api = wiki(7_000_000)
    ids_by_word = {word: word_id for word_id, word in enumerate(CORPUS.words)}

    def word_ids_in(prose):
        words = re.findall(r"[^\W\d_]+", prose.lower())
        return sorted(ids_by_word[word] for word in words if word in ids_by_word)

    for index in (*range(80), 12_345, 6_999_999):
        article = api.articles.article(index)
        expected = sorted(article.word_ids.tolist())
        assert word_ids_in(extract_wikitext(api.wikitext(index))) == expected
        page = render_page(article.title, *api.ids(index), api.writer.html(article))
        assert word_ids_in(extract_html(page)) == expected


async def test_a_pace_holds_articles_back_until_it_is_ended():
    source = DemoSource("test", 400, 1e9)
    await source.open()
    coming = source.batches(None)
    batches = [await anext(coming)]
    second = asyncio.ensure_future(anext(coming))
    done, _ = await asyncio.wait({second}, timeout=0.5)
    assert not done
    source.activity.pace = 0.0
    batches.append(await second)
    batches += [batch async for batch in coming]
    found = ids(batches)
    assert len(found) == 400
    assert len(set(found)) == 400
    await source.close()
