"""Pages that break whatever reads them: each is skipped and told, and the stream goes on as it was."""

from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from tests.session.memory import blocks_of
from wikitopics.crawler.source import Activity, Page, PageBatch, SourceInfo
from wikitopics.session.errors import SessionError
from wikitopics.session.signals import Signals
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.lock import trainer_lock
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.intake.count_pages import count_pages
from wikitopics.session.training.intake.crawl import CrawledBlocks
from wikitopics.session.training.intake.pool import CountingPool
from wikitopics.session.training.intake.workers import WorkerDied, Workers
from wikitopics.session.training.monitor import Outside
from wikitopics.session.training.run import Run, RunLimits
from wikitopics.session.training.stream import Stream
from wikitopics.vocab import Vocabulary

INFO = SourceInfo("memory", 60)
WORKER = """
import os
from wikitopics.session.training.intake import count_pages as counting

def prose(page, info):
    if "raises" in page.title:
        raise ValueError("not\\nthis one")
    if "kills" in page.title:
        os.kill(os.getpid(), 9)
    while "hangs" in page.title:
        pass
    return page.text

counting.prose, counting.CALL_SECONDS = prose, 1
counting.start_worker(words, info)
"""


class Memory:
    """Sixty pages in batches of ten; ``poison`` gives titles by page id."""

    def __init__(self, words, poison):
        self.activity = Activity()
        random = np.random.default_rng(1)
        texts = [" ".join(random.choice(words, 30)) for _ in range(60)]
        self.pages = [
            Page(i, poison.get(i, f"Page {i}"), i + 1000, text, "text") for i, text in enumerate(texts, 1)
        ]

    async def batches(self, position):
        for first in range(position["page"] if position else 0, 60, 10):
            yield PageBatch(tuple(self.pages[first : first + 10]), {"page": first + 10})

    async def close(self):
        pass


@pytest.fixture
def feed_of(corpus):
    """Makes a feed of 60 pages whose workers cannot stand those called `raises`, `kills` and `hangs`."""
    workers = Workers(2, exec, (WORKER, {"words": corpus.words, "info": INFO}))
    return lambda poison: CrawledBlocks(Memory(list(corpus.words), poison), CountingPool(workers, lambda: 2))


@pytest.mark.parametrize(
    ("poison", "reason"),
    [
        ("it raises", r"ValueError('not\nthis one')"),
        ("it kills", "was killed, or took over"),
        ("it hangs", "was killed, or took over"),
    ],
)
async def test_a_poison_page_is_left_empty_and_all_others_are_counted(feed_of, corpus, poison, reason):
    feed = feed_of({25: poison})
    blocks = await blocks_of(feed)
    assert [block.position for block in blocks] == [{"page": n} for n in range(10, 61, 10)]
    pages = Memory(list(corpus.words), {25: poison}).pages
    pages[24] = replace(pages[24], text="")
    expected = count_pages(pages, Vocabulary.from_words(corpus.words), INFO)
    found = Block.concatenate(blocks)
    assert found.titles == expected.titles
    for name in ("page_ids", "revision_ids", "indptr", "word_ids", "counts"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    warnings = [warning for block in blocks for warning in block.warnings]
    assert len(warnings) == 1
    assert f"page 25 ('{poison}') is skipped" in warnings[0]
    assert reason in warnings[0]


@pytest.mark.long
async def test_poison_in_several_blocks(feed_of):
    feed = feed_of({1: "it kills", 2: "it raises", 3: "it kills", 31: "it hangs", 60: "it kills"})
    blocks = await blocks_of(feed)
    assert [len(block) for block in blocks] == [10] * 6
    assert [len(block) - sum(block.has_words) for block in blocks] == [3, 0, 0, 1, 0, 1]


@pytest.mark.long
async def test_workers_that_always_die_are_no_fault_of_the_pages(feed_of):
    feed = feed_of(dict.fromkeys(range(1, 61), "it kills"))
    with pytest.raises(SessionError, match="perhaps out of memory"):
        await blocks_of(feed)


async def test_a_fourth_death_in_a_row_is_no_fault_of_the_pages():
    def job(result):
        made = Future()
        made.set_exception(result) if isinstance(result, Exception) else made.set_result(result)
        return made

    with closing(CountingPool.here(["aa", "bb"], INFO, 1)) as pool:
        for answer in ("an answer in between", "another"):
            for _ in range(3):
                with pytest.raises(WorkerDied, match="by signal 9"):
                    await pool.result(job(WorkerDied("by signal 9")))
            assert await pool.result(job(answer)) == answer
        for wanted in (*[WorkerDied] * 3, SessionError):
            with pytest.raises(wanted, match="by signal 9"):
                await pool.result(job(WorkerDied("by signal 9")))


@pytest.fixture
def path(corpus, tmp_path, new_session):
    return new_session(tmp_path / "s.db", corpus, model=("lda:topics=3,batch_size=64",), held_out=10)


async def test_a_skipped_page_is_in_the_account_and_in_the_log(feed_of, path, monkeypatch):
    # Kernels that take long to be compiled are told of too.
    monkeypatch.setattr("wikitopics.session.training.monitor.QUIET_SECONDS", 3600)
    feed, told = feed_of({25: "it raises \x1b[2J\u202e"}), []
    with trainer_lock(path), Signals() as signals:
        store = SessionWriter(path)
        trainer = Stream(store, article_limit=None, threads=1)
        try:
            outside = Outside(lambda _: None, told.append, signals)
            run = Run(path, store, trainer, feed, RunLimits(), outside)
            assert await run() == "finished"
        finally:
            await feed.close()
    with SessionReader(path) as reader:
        status = reader.status()
        assert (status.crawled, status.articles, status.held_out, status.skipped) == (60, 49, 10, 1)
        assert status.skips == {"could not be read": 1}
        warnings = [event.message for event in reader.events() if event.level == "warning"]
    assert warnings == told
    assert warnings == [r"page 25 ('it raises \x1b[2J\u202e') is skipped: ValueError('not\nthis one')"]
