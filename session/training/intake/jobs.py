"""Jobs of a source to word counts: the one step where the crawl meets the vocabulary.

It runs in worker processes, which survive nothing that a page does to its reader, and need not.
"""

import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.source import (
    BadSource,
    CutOff,
    Job,
    Lack,
    Lacking,
    Page,
    Skip,
    SourceInfo,
)
from wikitopics.session.storage.counts import Block
from wikitopics.session.training.intake.workers import Workers
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule, rule_of
from wikitopics.vocab.vocabulary import Lexicon

_TOGETHER = 50
"""Pages whose text is in memory at a time."""
CALL_SECONDS = 60
"""CPU seconds after which a worker that counts some pages is killed; a page usually takes milliseconds.

Wall-clock time would blame a page for a busy machine, or for a trainer that was stopped for a while.
"""
EMPTY = Block.concatenate([])

_worker: tuple[Vocabulary | Rule, SourceInfo] | None = None


@dataclass(frozen=True, slots=True)
class CountedJob:
    """The result of counting a job."""

    block: Block
    fault: str = ""
    """Why the job cannot be read at all now, as when its disk is gone; "" if it was read."""
    lack: Lack | None = None
    """What is needed to read more of it, if that is available."""


def start_worker(words: Sequence[str], info: SourceInfo) -> None:
    """Prepare a worker process; ``words`` are the lines of a vocabulary.

    If they name a rule and no words, every word is counted.
    """
    global _worker
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    _worker = Vocabulary.from_lines(words) if len(words) > 1 else rule_of(words), info


def count_job(job: Job) -> CountedJob:
    """The word counts of a job's articles, in their order, in a worker that `start_worker` has prepared."""
    assert _worker is not None
    vocabulary, info = _worker

    def count(pages: Sequence[Page]) -> Block:
        signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
        try:
            return count_pages(pages, vocabulary, info)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    return _read(job, info, count)


def pages_of_job(job: Job) -> tuple[tuple[Page, ...], CountedJob]:
    """A job's articles themselves, to be counted one at a time, and everything else about the job."""
    assert _worker is not None
    articles: list[Page] = []

    def keep(pages: Sequence[Page]) -> Block:
        articles.extend(pages)
        return EMPTY

    rest = _read(job, _worker[1], keep)
    return tuple(articles), rest


def _read(job: Job, info: SourceInfo, count: Callable[[Sequence[Page]], Block]) -> CountedJob:
    """Have a job's articles counted, some at a time."""
    blocks: list[Block] = []
    skips: Counter[Skip] = Counter()
    pages: list[Page] = []
    warnings: tuple[str, ...] = ()
    fault = ""
    lack: Lack | None = None
    try:
        for page in job.pages(info):
            if not isinstance(page, Page):
                skips[page] += 1
                continue
            pages.append(page)
            if len(pages) == _TOGETHER:
                blocks.append(count(pages))
                pages.clear()
    except (CutOff, Lacking) as error:
        warnings = (f"{job}: {error}; everything after the last complete page is left out",)
        lack = "more" if isinstance(error, Lacking) else "again"
    except BadSource as error:
        fault = str(error)
    blocks.append(count(pages))
    return CountedJob(replace(Block.concatenate(blocks), skips=skips, warnings=warnings), fault, lack)


def count_pages(pages: Sequence[Page], vocabulary: Vocabulary | Rule, info: SourceInfo) -> Block:
    """The word counts of ``pages``, in their order; a page without a known word is kept as an empty row.

    With a rule alone every word is known, and the block has a lexicon of their own.
    """
    rule, counter = (
        (vocabulary, Lexicon(vocabulary)) if isinstance(vocabulary, Rule) else (vocabulary.rule, vocabulary)
    )
    counted = [counter.count(_text(page, info, rule)) for page in pages]
    return Block.of_pages(pages, counted, counter.words if isinstance(counter, Lexicon) else None)


def _text(page: Page, info: SourceInfo, rule: Rule) -> str:
    """The text in which ``rule`` finds the page's words: its prose, or the titles it links to, one a line."""
    return "\n".join(page_links(page, info)) if rule.of_titles else prose(page, info)


def skipped(page: Page, reason: str) -> str:
    """The log line about a page that could not be read."""
    # Written by `repr`, so that nothing in the title can control a terminal.
    return f"page {page.page_id} ({page.title[:100]!r}) is skipped: {reason}"


def counting_workers(words: Sequence[str], info: SourceInfo, number: int) -> Workers:
    """Processes on this machine that count with the vocabulary of these lines."""
    return Workers(number, start_worker, (tuple(words), info))
