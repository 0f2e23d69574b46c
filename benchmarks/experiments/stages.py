"""Where the time goes from a file to a session: CPU microseconds a document, and MB a second on one
core, of each stage.

Each stage is a function of the program, called in one thread on the same documents; what it calls
that is a stage of its own does not count for it. `ready`: texts of `benchmarks.ready_texts` are
read from Parquet, counted by the shipped vocabulary, learnt by a LDA of 100 topics and stored, as
texts of `--texts` are. Up to the word counts, medians of three; from the queue on, one session of
200,000 texts. Some stages come up with the documents, others with their doublings, or every so
many: the table has how often, and how long each time takes. `dump`: the real articles of experiment
`dump`, up to their word counts, from where they go the same way.
"""

from __future__ import annotations

import asyncio
import bz2
import io
import pickle
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, cast
from unittest.mock import patch

from benchmarks.data import articles as real_articles
from benchmarks.experiments.dump import HEAD, xml
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.ready_texts import Sentences, drawn, sentences_of
from wikitopics.crawler.dumps.bzip2 import bzip2_blocks
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.markup.texts import text_to_count
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.source import Activity, Asked, Job, PageBatch, Position
from wikitopics.crawler.texts.kinds import Texts
from wikitopics.session.request import TrainRequest, new_settings
from wikitopics.session.storage import articles, recorded, snippets
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.snippets import snippet_of
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training import new_session, stream
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.jobs import PAGES_TOGETHER, CountedJob, count_job
from wikitopics.session.training.opening import Opened
from wikitopics.session.training.renewal import LastReading
from wikitopics.session.training.run import COMMIT_SECONDS
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.warming import warm_up
from wikitopics.session.training.workers import Pool
from wikitopics.vocab import Vocabulary

EXPERIMENT = Experiment(
    "stages",
    "where the time goes from a file to a session",
    data="articles-60k, wikitext",
)
TOPICS = 100
COUNTED = 10_000
"""Texts of the stages up to their word counts."""
LEARNT = 200_000
"""Texts of the session."""
LONG = 1_200
"""Articles of the dump."""
REPEATS = 3


class Stopwatch:
    """CPU seconds by stage."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self._inner: list[float] = []
        """For each stage that is under way, the seconds of those within it."""

    @contextmanager
    def stage(self, name: str, clock: Callable[[], float] | None = None) -> Iterator[None]:
        """Measure what is done meanwhile; what a stage within this one takes is not counted here.

        ``clock``: that of this thread, unless it is given
        """
        now = clock or time.thread_time
        self.seconds[name] += 0.0  # so that stages are in the order in which they begin
        self.calls[name] += 1
        self._inner.append(0.0)
        begun = now()
        try:
            yield
        finally:
            seconds = now() - begun
            self.seconds[name] += seconds - self._inner.pop()
            if self._inner:
                self._inner[-1] += seconds

    def watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The function, as a stage."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.stage(name):
                return call(*args, **kwargs)

        return timed


def _medians(measure: Callable[[], Stopwatch]) -> dict[str, float]:
    runs = [measure().seconds for _ in range(REPEATS)]
    return {name: median(run[name] for run in runs) for name in runs[0]}


# -- from a file to blocks -------------------------------------------------------


def _parquet(sentences: Sentences, first: int, path: Path) -> None:
    """Write a file of `COUNTED` texts, from number ``first`` on."""
    import pyarrow.parquet

    made, _ = drawn(sentences, first, COUNTED, 0)
    pyarrow.parquet.write_table(made, path, compression="zstd", compression_level=3)


async def _jobs_of(path: Path, watch: Stopwatch) -> tuple[list[Job], SourceInfo]:
    """All that a trainer hands to workers of a file of texts, and what it knows of them."""
    kind = Texts()
    asked = Asked({"texts": (str(path),)}, held_out=0)
    source = kind.open(kind.identity(asked), asked)
    # A source reads in threads of its own.
    with watch.stage("opening the file", time.process_time):
        info = await source.open()
    jobs: list[Job] = []
    with watch.stage("reading the file", time.process_time):
        async for stretch in source.batches(None):
            jobs += [await make() for make in stretch.jobs]
    await source.close()
    return jobs, info


def _blocks_of(
    pages: Sequence[Page], vocabulary: Vocabulary, info: SourceInfo, watch: Stopwatch
) -> list[Block]:
    """The word counts of pages, by the functions that `count_pages` calls."""
    blocks: list[Block] = []
    for start in range(0, len(pages), PAGES_TOGETHER):
        batch = pages[start : start + PAGES_TOGETHER]
        with watch.stage("text without markup"):
            texts = [text_to_count(page, info) for page in batch]
        with watch.stage("beginnings"):
            snippets = tuple(map(snippet_of, texts))
        with watch.stage("counting"):
            counted = list(vocabulary.count_all(texts))
        with watch.stage("blocks"):
            blocks.append(Block.of_pages(batch, counted, snippets=snippets))
    return blocks


def _handed_over(value: object) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 (our own)


def counted(path: Path, watch: Stopwatch) -> list[Block]:
    """The blocks of a file of texts."""
    vocabulary = Vocabulary.load("english")
    jobs, info = asyncio.run(_jobs_of(path, watch))
    blocks: list[Block] = []
    for job in jobs:
        with watch.stage("texts to a worker"):
            _handed_over((count_job, (job,), {}))
        with watch.stage("pages"):
            pages = [page for page in job.pages(info) if isinstance(page, Page)]
        blocks += _blocks_of(pages, vocabulary, info, watch)
    with watch.stage("blocks back"):
        for block in blocks:
            _handed_over((CountedJob(block), None))
    return blocks


# -- from blocks to a session ----------------------------------------------------


class _Counted(Pool):
    """Has the results of all jobs, in their order."""

    jobs = 2

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = iter(blocks)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        done: Future[CountedJob] = Future()
        done.set_result(CountedJob(next(self._blocks)))
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is running."""


class _Read:
    """A source whose pages nobody looks at, since they are counted already."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.activity = Activity()
        self._sizes = [len(block) for block in blocks]

    async def open(self) -> SourceInfo:
        return SourceInfo("texts", sum(self._sizes))

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        page = Page(1, "", 0, "", "text", "")
        read = 0
        for size in self._sizes:
            read += size
            here = {"file": 0, "offset": read, "line": read, "number": read, "read": read}
            yield PageBatch((page,) * size, here, lap=read / sum(self._sizes))

    async def close(self) -> None:
        """Nothing is open."""


def _created(path: Path, n: int) -> None:
    """A session over this many texts, before the first."""
    kind = Texts()
    request = TrainRequest(
        source="texts",
        texts=("texts.jsonl",),
        topics=str(TOPICS),
        passes=1,
        replicas=0,
        model=("lda",),
    )
    settings, words = new_settings(request, kind)
    assert isinstance(words, Vocabulary)
    opened = Opened(SourceInfo("texts", n), settings.source_options, cast(Any, None))
    completed = new_session.complete(settings, request, opened)
    warm_up(completed.models)
    new_session.create(path, completed, words)


def _watch_session(watch: Stopwatch, learner: Stream, patches: ExitStack) -> None:
    """Make a stage of each thing that a trainer's thread does."""
    # Where a function of another module is called, its name there is replaced.
    of_stages: tuple[tuple[str, Any, str], ...] = (
        ("waiting in minibatches", learner._account, "take"),
        ("learning", learner, "_learn"),
        ("topics to store", stream, "stored_topics"),
        ("topics' words, areas and changes", learner._curves, "keep_topics"),
        ("measuring", learner, "_measure"),
        ("landmarks of the map", learner._charting, "choose"),
        ("places on the map", learner._charting, "place"),
        ("newest inferred again", learner.renewal, "beside"),
        ("newest inferred again", learner.renewal, "replace_topics"),
        ("counts to the session", SessionWriter, "_packed"),
        ("articles to the session", articles, "insert_articles"),
        ("beginnings to the session", snippets, "snippet_rows"),
        ("proportions to the session", recorded, "insert_block"),
        ("counts from the session", LastReading, "take"),
        ("all inferred at the end", learner.renewal, "inferred"),
        ("articles' new topics to the session", articles, "renew_topics"),
        ("new proportions to the session", recorded, "renew_proportions"),
    )
    for name, owner, attribute in of_stages:
        watched = watch.watched(name, getattr(owner, attribute))
        patches.enter_context(patch.object(owner, attribute, watched))


async def learnt(blocks: Sequence[Block], path: Path, watch: Stopwatch) -> None:
    """Have these blocks queued, learnt and stored as a trainer does it."""
    total = sum(len(block) for block in blocks)
    _created(path, total)
    store = SessionWriter(path)
    learner = Stream(store, article_limit=None, threads=1)
    intake = Intake(_Read(blocks), _Counted(blocks))
    saved = time.thread_time()

    def commit() -> None:
        nonlocal saved
        with watch.stage("committing"):
            learner.commit(1.0, 0)
        saved = time.thread_time()

    def work_off() -> None:
        while (work := learner.work()) is not None:
            if work.on_committed and learner.dirty:
                commit()
            with watch.stage("bookkeeping of a minibatch"):
                work.do(lambda: 1.0)
            if time.thread_time() - saved > COMMIT_SECONDS:
                commit()

    with ExitStack() as patches:
        _watch_session(watch, learner, patches)
        with watch.stage("queue"):
            intake.start(None)
            while (block := await intake.next()) is not None:
                with watch.stage("held out or pending"):
                    learner.feed(block)
                work_off()
            await intake.close()
            learner.end_of_source()
            work_off()
            with watch.stage("bookkeeping of a minibatch"):
                learner.finish(1.0)
            commit()
    store.close()


def _text_bytes(path: Path) -> int:
    """The bytes of the texts of a Parquet file."""
    import pyarrow.compute
    import pyarrow.parquet

    texts = pyarrow.parquet.read_table(path, columns=["text"])["text"]
    return int(pyarrow.compute.sum(pyarrow.compute.binary_length(texts)).as_py())


# -- points ----------------------------------------------------------------------


@EXPERIMENT.point("pyarrow")
def ready() -> Figures:
    """By stage, CPU microseconds a document; the megabytes of text, and the documents."""
    sentences = sentences_of(real_articles())
    learning = Stopwatch()
    blocks: list[Block] = []
    with TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.parquet"
        _parquet(sentences, 0, texts)
        megabytes = _text_bytes(texts) / 1e6

        def count() -> Stopwatch:
            watch = Stopwatch()
            counted(texts, watch)
            return watch

        counting = _medians(count)
        for first in range(0, LEARNT, COUNTED):
            _parquet(sentences, first, texts)
            blocks += counted(texts, Stopwatch())
        path = Path(folder) / "texts.db"
        cpu_before = time.process_time()
        asyncio.run(learnt(blocks, path, learning))
        cpu_seconds = time.process_time() - cpu_before
        session_bytes = path.stat().st_size
    # Landmarks of the map are laid out in a thread of their own.
    learning.seconds["layouts of landmarks, in a thread"] = cpu_seconds - sum(
        learning.seconds.values()
    )
    microseconds = {name: 1e6 * each / COUNTED for name, each in counting.items()}
    microseconds |= {name: 1e6 * each / LEARNT for name, each in learning.seconds.items()}
    return {
        "documents": LEARNT,
        "kilobytes": 1000 * megabytes / COUNTED,
        "session_bytes": session_bytes / LEARNT,
        "microseconds": microseconds,
        "calls": dict(learning.calls),
    }


@EXPERIMENT.point()
def dump() -> Figures:
    """The same of a dump, up to its word counts."""
    wikitext = [article["text"] for article in real_articles("wikitext/articles-400.jsonl.xz")]
    pieces = [HEAD.encode()]
    for piece in xml(LONG, "Article {}".format, lambda number: wikitext[number % len(wikitext)]):
        pieces.append(piece.encode())
    pieces.append(b"</mediawiki>\n")
    packed = b"".join(map(bz2.compress, pieces))
    megabytes = sum(map(len, pieces)) / 1e6

    def count() -> Stopwatch:
        watch = Stopwatch()
        vocabulary = Vocabulary.load("english")
        with watch.stage("bytes to a worker"):
            _handed_over(packed)
        with watch.stage("unpacking bzip2"):
            read = io.BytesIO(packed).read
            unpacked = [piece for _, data in bzip2_blocks(read, 0) for piece in data]
        with watch.stage("XML"), DumpReader("dump", None) as reader:
            pages = [
                entry.page
                for piece in unpacked
                for entry in reader.feed(piece)
                if isinstance(entry.page, Page)
            ]
        blocks = _blocks_of(pages, vocabulary, reader.info, watch)
        with watch.stage("blocks back"):
            for block in blocks:
                _handed_over((CountedJob(block), None))
        return watch

    seconds = _medians(count)
    return {
        "documents": LONG,
        "kilobytes": 1000 * megabytes / LONG,
        "microseconds": {name: 1e6 * each / LONG for name, each in seconds.items()},
    }


# -- tables ----------------------------------------------------------------------


def stages(name: str, points: Points) -> str:
    """Each stage of a point, in the order in which a document passes them."""
    found = points[name]
    microseconds: dict[str, float] = found["microseconds"]
    total = sum(microseconds.values())
    calls: dict[str, int] = found.get("calls", {})
    rows = []
    for stage, each in [*microseconds.items(), ("all", total)]:
        megabytes = 1000 * found["kilobytes"] / each if each else float("inf")
        cells = [stage, f"{each:,.1f}", f"{megabytes:,.0f}", f"{100 * each / total:.1f} %"]
        if calls:
            n = calls.get(stage)
            if n is None:
                cells += ["", ""]
            else:
                cells += [f"{n:,}", f"{each * found['documents'] / n / 1000:,.2f}"]
        rows.append(cells)
    head = ["stage", "CPU µs a document", "MB a second", "of all"]
    if calls:
        head += ["times", "ms each"]
    return table(head, rows)


EXPERIMENT.tables["ready"] = lambda points: stages("ready", points)
EXPERIMENT.tables["dump"] = lambda points: stages("dump", points)
