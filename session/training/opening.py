"""Opening the source of a run, while the models' kernels are compiled."""

import asyncio
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import Activity, Asked, Identity, PageKind, Source, SourceKind
from wikitopics.extra import DASK
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, Say
from wikitopics.session.options import CLUSTER
from wikitopics.session.settings import ModelSpec
from wikitopics.session.training.blocks import Blocks, Intake
from wikitopics.session.training.counts_file import CountedBlocks
from wikitopics.session.training.jobs import counting_workers
from wikitopics.session.training.kinds import Counts
from wikitopics.session.training.warming import warm_up
from wikitopics.session.training.workers import Pool
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule

LONG_TO_OPEN = 2.0
"""Seconds after which it is said what an opening source is waiting for; an error that follows is
said after as many seconds."""
WAITS_APART = 10.0
"""Seconds between two lines on what it is waiting for, which may be a percentage."""
MOST_WORKERS = 16
"""The most workers: each takes 75 MB, besides what all share."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that has been opened; closing the feed closes it."""

    info: SourceInfo
    identity: Identity
    """The source's identity, as the session stores it."""
    feed: Blocks


async def open_source(
    kind: SourceKind,
    identity: Identity,
    asked: Asked,
    vocabulary: Vocabulary | Rule,
    say: Say,
    specs: Sequence[ModelSpec] = (),
    cluster: str | None = None,
    keeps_snippets: bool = False,
) -> Opened:
    """Contact the source; raises its errors. Models like ``specs`` are compiled meanwhile.

    With only a rule, every word is counted. ``cluster``: the address of the cluster whose workers
    count; None: processes on this machine count. ``keeps_snippets``: whether the blocks have the
    beginnings of the texts.
    """
    sources.check_identity(kind, identity)
    if isinstance(kind, Counts):
        if cluster is not None:
            raise BadUsage(
                f"{CLUSTER.flag}: the words of --source {kind.name} are already counted; leave it "
                "out"
            )
        assert isinstance(vocabulary, Vocabulary)
        file = await asyncio.to_thread(kind.open, identity, asked, vocabulary.lines)
        counts_info = SourceInfo(file.name, len(file))
        return Opened(counts_info, {**identity, **file.identity}, CountedBlocks(file))
    assert isinstance(kind, PageKind)
    warming = asyncio.get_running_loop().run_in_executor(None, warm_up, specs)
    # An error of a model recurs, and is reported, when the trainer makes the model itself.
    warming.add_done_callback(lambda warmed: warmed.cancelled() or warmed.exception())
    source = kind.open(identity, asked)
    try:
        info = await open_with_retries(source, say)
        # The few articles from which a vocabulary is built are counted on this machine.
        if cluster is not None and isinstance(vocabulary, Vocabulary):
            pool: Pool = await far_pool(
                cluster, vocabulary, info, source, say, keeps_snippets=keeps_snippets
            )
        else:
            number = min(os.cpu_count() or 1, MOST_WORKERS)
            pool = counting_workers(vocabulary.lines, info, number, keeps_snippets)
    except BaseException:
        await source.close()
        raise
    return Opened(info, {**identity, **info.identity}, Intake(source, pool))


async def far_pool(
    address: str,
    vocabulary: Vocabulary,
    info: SourceInfo,
    source: Source,
    say: Say,
    *,
    keeps_snippets: bool,
) -> Pool:
    """The workers of the cluster at this address, once there are any. Raises `BadUsage` without
    Dask, and `SessionError` if the cluster does not answer."""
    try:
        from wikitopics.session.training.cluster import Cluster
    except ModuleNotFoundError:
        raise BadUsage(DASK.needed(CLUSTER.flag)) from None
    cluster = Cluster(address, vocabulary, info, source.activity, keeps_snippets=keeps_snippets)
    await asyncio.to_thread(cluster.connect)
    say(f"counting on a cluster: {cluster.jobs} threads on {cluster.workers} workers")
    return cluster


async def open_with_retries(source: Source, say: Say) -> SourceInfo:
    """Open the source; if it takes longer than a moment, say what is being waited for."""
    opening = asyncio.ensure_future(source.open())
    reported = ""
    reported_at = -math.inf
    try:
        while True:
            await asyncio.wait({opening}, timeout=LONG_TO_OPEN)
            if opening.done():
                break
            errors = source.activity.errors
            waiting = errors[-1].text if errors else source.activity.waiting_for
            now = time.monotonic()
            is_due = bool(errors) or now - reported_at >= WAITS_APART
            if waiting and waiting != reported and is_due:
                reported = waiting
                reported_at = now
                say(waiting + _for_how_long(source.activity))
    finally:
        opening.cancel()
    return await opening


def _for_how_long(activity: Activity) -> str:
    """How long a wait will last, if that is known."""
    if activity.trying_until is not None:
        return f"; trying until {_clock(activity.trying_until)}"
    if activity.waiting_until is not None:
        return f"; next request at {_clock(activity.waiting_until)}"
    return ""


def _clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment))
