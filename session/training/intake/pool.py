"""Counts pages in worker processes that survive whatever a page does to its reader."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.source import BadSource, CutOff, Lack, Lacking, Page, Part, Skip, SourceInfo
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.counts import Block
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied, Workers
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule, rule_of
from wikitopics.vocab.vocabulary import Lexicon

# Pages to word counts: the one step where the crawl meets the vocabulary. Runs in worker processes.

_TOGETHER = 50
"""Pages whose text is in memory at a time."""
CALL_SECONDS = 60
"""CPU seconds after which a worker that counts some pages is killed; a page usually takes milliseconds.

Wall-clock time would blame a page for a busy machine, or for a trainer that was stopped for a while.
"""

_worker: tuple[Vocabulary | Rule, SourceInfo] | None = None


def start_worker(words: Sequence[str], info: SourceInfo) -> None:
    """Prepare a worker process; ``words`` are the lines of a vocabulary.

    If they name a rule and no words, every word is counted.
    """
    global _worker
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    _worker = Vocabulary.from_lines(words) if len(words) > 1 else rule_of(words), info


def count_in_worker(pages: Sequence[Page]) -> Block:
    """`count_pages` in a worker that `start_worker` has prepared."""
    assert _worker is not None
    signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
    try:
        return count_pages(pages, *_worker)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@dataclass(frozen=True, slots=True)
class CountedPart:
    """The result of counting a part of a source."""

    block: Block
    fault: str = ""
    """Why the part cannot be read at all now, as when its disk is gone; "" if it was read."""
    lack: Lack | None = None
    """What is needed to read more of it, if that is available."""


EMPTY = Block.concatenate([])


def count_part_in_worker(part: Part) -> CountedPart:
    """The word counts of a part's articles, in their order, in a worker that `start_worker` has prepared."""
    assert _worker is not None
    return _read(part, _worker[1], count_in_worker)


def pages_in_worker(part: Part) -> tuple[tuple[Page, ...], CountedPart]:
    """The part's articles themselves, to be counted one at a time, and everything else about the part."""
    assert _worker is not None
    found: list[Page] = []

    def keep(pages: Sequence[Page]) -> Block:
        found.extend(pages)
        return EMPTY

    rest = _read(part, _worker[1], keep)
    return tuple(found), rest


def _read(part: Part, info: SourceInfo, count: Callable[[Sequence[Page]], Block]) -> CountedPart:
    """Have a part's articles counted, some at a time."""
    counted: list[Block] = []
    skips: Counter[Skip] = Counter()
    pages: list[Page] = []
    warnings: tuple[str, ...] = ()
    fault = ""
    lack: Lack | None = None
    try:
        for page in part.pages(info):
            if not isinstance(page, Page):
                skips[page] += 1
                continue
            pages.append(page)
            if len(pages) == _TOGETHER:
                counted.append(count(pages))
                pages.clear()
    except (CutOff, Lacking) as error:
        warnings = (f"{part}: {error}; everything after the last complete page is left out",)
        lack = "more" if isinstance(error, Lacking) else "again"
    except BadSource as error:
        fault = str(error)
    counted.append(count(pages))
    return CountedPart(replace(Block.concatenate(counted), skips=skips, warnings=warnings), fault, lack)


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


P = ParamSpec("P")
T = TypeVar("T")

MOST_DEATHS = 3
"""If more jobs than this in a row kill their workers, the pages are not to blame."""


class CountingPool:
    """Has pages counted by the workers of an executor, which know a vocabulary and a source."""

    def __init__(self, executor: Executor, jobs: Callable[[], int]) -> None:
        self._executor = executor
        self.jobs = jobs
        """The number of jobs that must be in progress so that no worker is idle; it may change."""
        self._deaths = 0

    @classmethod
    def here(cls, words: Sequence[str], info: SourceInfo, workers: int) -> "CountingPool":
        """Processes on this machine."""
        return cls(Workers(workers, start_worker, (tuple(words), info)), lambda: workers)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call ``fn``."""
        return self._executor.submit(fn, *args, **kwargs)

    async def result(self, job: Future[T]) -> T:
        """The job's result. Cancelling the wait does not cancel the job.

        Raises `JobFailed`, `WorkerDied`, and SessionError if one worker after another dies.
        """
        made = asyncio.wrap_future(job)
        made.add_done_callback(_look_at)
        try:
            found = await asyncio.shield(made)
        except WorkerDied as death:
            self._deaths += 1
            if self._deaths > MOST_DEATHS:
                raise SessionError(
                    "the processes that parse articles keep dying, perhaps out of memory "
                    f"(the last one {death})"
                ) from None
            raise
        self._deaths = 0
        return found

    async def one_by_one(self, pages: Sequence[Page]) -> Block:
        """Count pages one at a time; a page that still fails or kills its worker is left empty, with a
        warning."""
        parts: list[Block] = []
        warnings: list[str] = []
        for page in pages:
            try:
                parts.append(await self.result(self.submit(count_in_worker, (page,))))
                continue
            except WorkerDied:
                reason = f"the process that read it was killed, or took over {CALL_SECONDS} s"
            except JobFailed as error:
                reason = str(error)[:200]
            warnings.append(skipped(page, reason))
            parts.append(Block.uncounted(page))
        return replace(Block.concatenate(parts), warnings=tuple(warnings))

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _look_at(made: asyncio.Future[T]) -> None:
    """Retrieve the error, so that asyncio does not report it when nothing waits for it any more."""
    if not made.cancelled():
        made.exception()
