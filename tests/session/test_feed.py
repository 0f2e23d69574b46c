"""Pages become counts in worker processes, in their order and each once."""

import os
import signal

import numpy as np

from session.counting import count_pages
from session.feed import CrawlFeed
from tests.session.memory import INFO
from vocab import Vocabulary


async def test_real_worker_processes_count_the_same(corpus, memory):
    feed = CrawlFeed(memory, INFO, corpus.words, workers=2)
    feed.start({"page": 640})
    blocks = []
    try:
        while (found := await feed.next()) is not None:
            blocks.append(found)
    finally:
        await feed.close()
    assert [page for b in blocks for page in b.documents.page_ids.tolist()] == list(range(641, 701))
    expected = count_pages(memory.pages[640:650], Vocabulary.from_words(corpus.words), INFO)
    assert np.array_equal(blocks[0].documents.counts, expected.counts)
    assert [b.position for b in blocks] == [{"page": n} for n in range(650, 701, 10)]


async def test_a_killed_worker_loses_no_page(corpus, memory):
    feed = CrawlFeed(memory, INFO, corpus.words, workers=1)
    memory.slow = 0.02
    feed.start(None)
    seen = []
    try:
        seen += (await feed.next()).documents.page_ids.tolist()
        for pid in feed._pool.pids():
            os.kill(pid, signal.SIGKILL)
        while (found := await feed.next()) is not None:
            seen += found.documents.page_ids.tolist()
    finally:
        await feed.close()
    assert seen == list(range(1, 701))
