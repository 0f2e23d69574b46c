"""A job to word counts: the one step where the crawl meets the vocabulary.

It runs in worker processes: a page that kills its reader, or never lets it end, costs only such a
process.
"""

import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from wikitopics.crawler.errors import REST_LEFT_OUT, BadSource, CutOff, Lacking
from wikitopics.crawler.markup.texts import page_links, prose, text_to_count
from wikitopics.crawler.page import Page, Skip, SourceInfo
from wikitopics.crawler.source import Job, Lack
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.snippets import snippet_of
from wikitopics.session.training.workers import Workers
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.counting import Counted
from wikitopics.vocab.rules import BY_DICTIONARY, Rule, rule_of, tokens_in
from wikitopics.vocab.vocabulary import Lexicon

PAGES_TOGETHER = 50
"""Pages whose text is in memory at a time."""
CALL_SECONDS = 60
"""CPU seconds after which a worker that counts some pages is killed; a page usually takes
milliseconds.

Wall-clock time would blame a page for a busy machine, or for a trainer that was suspended.
"""

_worker: tuple[Vocabulary | Rule, SourceInfo, bool] | None = None


@dataclass(frozen=True, slots=True)
class CountedJob:
    """The result of counting a job."""

    block: Block
    fault: str = ""
    """Why the job cannot be read at all at present, such as a missing disk; "" if it was read."""
    lack: Lack | None = None
    """What is needed to read more of the job, if that can be had."""
    pages: tuple[Page, ...] = ()
    """The job's articles, if these are still to be counted, one at a time: see `count_job`."""


def start_worker(words: Sequence[str], info: SourceInfo, keeps_snippets: bool = False) -> None:
    """Prepare a worker process; ``words`` are the lines of a vocabulary, or of a rule alone.
    ``keeps_snippets``: whether the blocks have the beginnings of the texts.

    With a rule alone, every word is counted.
    """
    global _worker
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    rule = rule_of(words)
    vocabulary: Vocabulary | Rule = rule
    if len(words) > len(rule.lines):  # the first rule has no line of its own
        vocabulary = Vocabulary.from_lines(words)
    # Loads the segmenter and the kernels now: if that fails, or takes long, no page is to blame.
    count_texts([""], vocabulary)
    _worker = (vocabulary, info, keeps_snippets)


def count_job(job: Job, *, counts: bool = True) -> CountedJob:
    """The word counts of a job's articles, in order; runs in a worker prepared by `start_worker`.

    Without ``counts``: the articles themselves, and everything else about the job.
    """
    assert _worker is not None
    vocabulary, info, keeps_snippets = _worker
    blocks: list[Block] = []
    skips: Counter[Skip] = Counter()
    pages: list[Page] = []
    warnings: tuple[str, ...] = ()
    fault = ""
    lack: Lack | None = None

    def count() -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
        try:
            blocks.append(count_pages(pages, vocabulary, info, keeps_snippets))
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        pages.clear()

    try:
        for page in job.pages(info):
            if not isinstance(page, Page):
                skips[page] += 1
                continue
            pages.append(page)
            if counts and len(pages) == PAGES_TOGETHER:
                count()
    except CutOff as error:
        warnings = (f"{job}: {error}",)
        lack = "again"
    except Lacking as error:
        warnings = (f"{job}: {error}; {REST_LEFT_OUT}",)
        lack = "more"
    except BadSource as error:
        fault = str(error)
    if counts:
        count()
    block = replace(Block.concatenate(blocks), skips=skips, warnings=warnings)
    return CountedJob(block, fault, lack, tuple(pages))


pages_of_job = partial(count_job, counts=False)


def count_pages(
    pages: Sequence[Page],
    vocabulary: Vocabulary | Rule,
    info: SourceInfo,
    keeps_snippets: bool = False,
) -> Block:
    """The word counts of ``pages``, in order; a page without a known word is kept as an empty row.

    With only a rule, every word is known, and the block has its own lexicon.
    """
    rule = vocabulary if isinstance(vocabulary, Rule) else vocabulary.rule
    if rule.of_titles:
        texts = ["\n".join(page_links(page, info)) for page in pages]
    elif rule.tokens:
        texts = [page.text for page in pages]
    elif rule.number == BY_DICTIONARY:  # dictionaries are for texts without invisible characters
        texts = [prose(page, info) for page in pages]
    else:
        texts = [text_to_count(page, info) for page in pages]
    snippets = tuple(map(snippet_of, texts)) if keeps_snippets else None
    counted, lexicon = count_texts(texts, vocabulary)
    return Block.of_pages(pages, counted, lexicon, snippets)


def count_texts(
    texts: Sequence[str], vocabulary: Vocabulary | Rule
) -> tuple[list[Counted], tuple[str, ...] | None]:
    """The word counts of each text; and with only a rule, all words."""
    if isinstance(vocabulary, Rule):
        lexicon = Lexicon(vocabulary)
        return list(lexicon.count_all(texts)), lexicon.words
    if vocabulary.rule.tokens:
        return [vocabulary.count_tokens(tokens_in(text)) for text in texts], None
    return list(vocabulary.count_all(texts)), None


def skipped(page: Page, reason: str) -> str:
    """The log line about a page that could not be read."""
    # Written by `repr`, so that nothing in the title can control a terminal.
    return f"page {page.page_id} ({page.title[:100]!r}) is skipped: {reason}"


def counting_workers(
    words: Sequence[str],
    info: SourceInfo,
    number: int,
    keeps_snippets: bool = False,
) -> Workers:
    """Processes on this machine that count with the vocabulary whose lines are ``words``."""
    return Workers(number, start_worker, (tuple(words), info, keeps_snippets))
