"""Pages to word counts: the one step where the crawl meets the vocabulary. Runs in worker processes."""

import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wikitopics.crawler.errors import BadSource, CutOff, Lacking
from wikitopics.crawler.markup.links import page_links
from wikitopics.crawler.markup.texts import prose
from wikitopics.crawler.source import Lack, Page, Part, Skip, SourceInfo
from wikitopics.session.storage.block import Block
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.lexicon import Lexicon
from wikitopics.vocab.rules import Rule, rule_of

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
