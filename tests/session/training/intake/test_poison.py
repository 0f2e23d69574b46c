"""Pages that break whatever reads them: each is skipped and told, and the stream goes on as it was."""

from concurrent.futures import Executor, Future
from contextlib import nullcontext
from dataclasses import replace

import pytest

from tests.session.memory import INFO, Memory, blocks_of, log_of, status
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.counts import Block
from wikitopics.session.training.intake.blocks import Intake
from wikitopics.session.training.intake.jobs import EMPTY, CountedJob, count_pages, pages_of_job
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied, Workers
from wikitopics.vocab import Vocabulary

WORKER = """
import os
from wikitopics.session.training.intake import jobs as counting

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


def poisoned(words, poison):
    """Sixty pages in batches of ten; ``poison`` gives titles by page id."""
    source = Memory(list(words), 60)
    for number, title in poison.items():
        source.pages[number - 1] = replace(source.pages[number - 1], title=title)
    return source


@pytest.fixture
def feed_of(corpus):
    """Makes a feed of 60 pages whose workers cannot stand those called `raises`, `kills` and `hangs`."""
    workers = Workers(2, exec, (WORKER, {"words": corpus.words, "info": INFO}))
    return lambda poison: Intake(poisoned(corpus.words, poison), workers)


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
    pages = poisoned(corpus.words, {25: poison}).pages
    pages[24] = replace(pages[24], text="")
    expected = count_pages(pages, Vocabulary.from_words(corpus.words), INFO)
    assert Block.concatenate(blocks).to_bytes() == expected.to_bytes()
    (warning,) = [warning for block in blocks for warning in block.warnings]
    assert f"page 25 ('{poison}') is skipped" in warning
    assert reason in warning


@pytest.mark.long
async def test_poison_in_several_blocks(feed_of):
    feed = feed_of({1: "it kills", 2: "it raises", 3: "it kills", 31: "it hangs", 60: "it kills"})
    blocks = await blocks_of(feed)
    assert [len(block) for block in blocks] == [10] * 6
    assert [len(block) - sum(block.has_words) for block in blocks] == [4, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(("good", "ends"), [(range(4, 61, 4), False), (range(4, 40, 4), True)])
async def test_a_fourth_death_in_a_row_is_no_fault_of_the_pages(corpus, good, ends):
    class Dying(Executor):
        """Workers that survive some pages, if these come alone."""

        def submit(self, fn, /, *args, **kwargs):
            answer, pages = Future(), args[0].fetched
            if fn is pages_of_job:
                answer.set_result((pages, CountedJob(EMPTY)))
            elif len(pages) == 1 and pages[0].page_id in good:
                answer.set_result(CountedJob(Block.uncounted(pages[0])))
            else:
                answer.set_exception(WorkerDied("by signal 9"))
            return answer

        def jobs(self):
            return 1

    source = poisoned(corpus.words, {})
    source.slow = 0.01  # one batch after another
    with pytest.raises(SessionError, match="by signal 9") if ends else nullcontext():
        await blocks_of(Intake(source, Dying()))


async def test_a_skipped_page_is_in_the_account_and_in_the_log(trainer_of, corpus, monkeypatch):
    # Kernels that take long to be compiled are told of too.
    monkeypatch.setattr("wikitopics.session.training.run.QUIET_SECONDS", 3600)

    def choosy(job):
        if any("raises" in page.title for page in job.fetched):
            raise JobFailed("ValueError('not\\nthis one')")
        return CountedJob(count_pages(job.fetched, Vocabulary.from_words(corpus.words), INFO))

    monkeypatch.setattr("wikitopics.session.training.intake.blocks.count_job", choosy)
    monkeypatch.setattr(
        "wikitopics.session.training.intake.blocks.pages_of_job", lambda job: (job.fetched, CountedJob(EMPTY))
    )
    told = []
    source = poisoned(corpus.words, {25: "it raises \x1b[2J\u202e"})
    assert await trainer_of(source, say=told.append) == "finished"
    now = status(trainer_of.path)
    assert (now.crawled, now.articles, now.held_out) == (66, 60 - 8 - 1 - 30, 30)
    assert now.skips == {"could not be read": 1, "no known word": 8, "disambiguation": 6}
    assert [text for level, text in log_of(trainer_of.path) if level == "warning"] == told
    assert told == [r"page 25 ('it raises \x1b[2J\u202e') is skipped: ValueError('not\nthis one')"]
