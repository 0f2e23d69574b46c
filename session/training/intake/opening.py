"""Opening a source: from its kind and its identity to blocks of word counts."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import numpy as np

from wikitopics.crawler.source import (
    Activity,
    Asked,
    Identity,
    PageKind,
    Source,
    SourceInfo,
    SourceKind,
)
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.kernels import nothing_kept
from wikitopics.session.errors import BadUsage
from wikitopics.session.options import CLUSTER, CLUSTER_UNENCRYPTED, ENCRYPTED, UNENCRYPTED
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.request import TrainRequest
from wikitopics.session.settings import ModelSpec, new_model
from wikitopics.session.sources import DASK, check_identity
from wikitopics.session.training.intake.blocks import Blocks, CountedBlocks, Intake, Pool, counting_workers
from wikitopics.session.training.intake.counts import Counts
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied, Workers
from wikitopics.session.training.measuring import HeldOut
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule

# Compiles kernels, or loads them from their cache, while the source is still being contacted.
#
# Compiling takes seconds the first time after an installation, and the first articles take a second or two to
# arrive. Done in parallel, the first point of the curve comes sooner.

WORDS = 64
DOCUMENTS = 8


def warm_up(specs: Sequence[ModelSpec]) -> None:
    """Take models like those of ``specs`` through everything that a trainer does, then discard them.

    A process compiles one kernel at a time. After an installation, when all of them have to be compiled,
    another process does what learning needs, and this one loads it.
    """
    if nothing_kept():
        with Workers(1, bool, ()) as helper, contextlib.suppress(JobFailed, WorkerDied):
            learnt = helper.submit(learn, specs)
            measure(specs)
            learnt.result()
    learn(specs)
    measure(specs)


def learn(specs: Sequence[ModelSpec]) -> None:
    """Have models learn, and their words read."""
    for spec in specs:
        model = _like(spec)
        model.learn(_documents())
        model.top_words(SNAPSHOT_WORDS)


def measure(specs: Sequence[ModelSpec]) -> None:
    """Have models measured, which for LDA begins with what only this needs, and documents inferred."""
    documents = _documents()
    held_out = HeldOut(documents, 0)
    for spec in specs:
        model = _like(spec)
        held_out.measure(model)
        model.infer(documents)


def _like(spec: ModelSpec) -> OnlineModel:
    """A small model. As the trainer does: one made from its state may have other types for the compiler."""
    new = new_model(spec, WORDS, DOCUMENTS, 0)
    return type(new).from_state(new.state())


def _documents() -> Minibatch:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (DOCUMENTS, WORDS)).astype(np.int32)
    counts[:, 0] = 1
    documents, words = np.nonzero(counts)
    indptr = np.searchsorted(documents, np.arange(DOCUMENTS + 1)).astype(np.int64)
    return Minibatch(indptr, words.astype(np.int32), counts[documents, words])


MOST_WORKERS = 16
"""The most workers: each takes 45 MB, and a few of them already read faster than a model learns."""


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
    say: Callable[[str], None],
    specs: Sequence[ModelSpec] = (),
    cluster: str | None = None,
) -> Opened:
    """Make contact with the source; raises its errors. Models like ``specs`` are compiled meanwhile.

    With only a rule, every word is counted. ``cluster``: the address of the cluster whose workers count;
    None: processes on this machine count.
    """
    check_identity(kind, identity)
    if isinstance(kind, Counts):
        if cluster is not None:
            raise BadUsage(
                f"{CLUSTER.flag}: the words of --source {kind.name} are counted already: leave it out"
            )
        assert isinstance(vocabulary, Vocabulary)
        file = await asyncio.to_thread(kind.open, identity, asked, vocabulary.lines)
        return Opened(SourceInfo(file.name, len(file)), {**identity, **file.identity}, CountedBlocks(file))
    assert isinstance(kind, PageKind)
    warming = asyncio.get_running_loop().run_in_executor(None, warm_up, specs)
    # An error of a model comes again, and is reported, when the trainer makes the model itself.
    warming.add_done_callback(lambda warmed: warmed.cancelled() or warmed.exception())
    source = kind.open(identity, asked)
    try:
        info = await open_with_retries(source, say)
        # the few articles for a vocabulary are counted here
        if cluster is not None and isinstance(vocabulary, Vocabulary):
            pool: Pool = await far_pool(cluster, vocabulary, info, source.activity, say)
        else:
            pool = counting_workers(vocabulary.lines, info, min(os.cpu_count() or 1, MOST_WORKERS))
    except BaseException:
        await source.close()
        raise
    return Opened(info, {**identity, **info.identity}, Intake(source, pool))


# `--cluster ADDRESS`: valid addresses, and those to which articles may safely be sent.

PORT = 8786
"""The port on which `dask scheduler` listens by default."""


def cluster_address(request: TrainRequest) -> str | None:
    """The requested scheduler, as Dask writes it; None if there is none. Raises `BadUsage`."""
    text = request.get(CLUSTER)
    if text is None:
        if CLUSTER_UNENCRYPTED in request:
            raise BadUsage(f"{CLUSTER_UNENCRYPTED.flag} needs {CLUSTER.flag} {CLUSTER.metavar}")
        return None
    scheme, host, port = _split(text)
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    if scheme in UNENCRYPTED and not _is_loopback(host) and CLUSTER_UNENCRYPTED not in request:
        raise BadUsage(
            f"{CLUSTER.flag} {address} is not encrypted: anyone on the network can read the articles and run "
            f"programs here and on the workers. Use tls:// (docs/scaling.md), or {CLUSTER_UNENCRYPTED.flag} "
            "on a network of your own"
        )
    return address


def _split(text: str) -> tuple[str, str, int]:
    """(scheme, host, port)."""
    wrong = BadUsage(
        f"{CLUSTER.flag} {text!r} is not an address of a Dask scheduler: write tls://HOST:{PORT}"
    )
    if not text.isascii() or not text.isprintable() or " " in text:
        raise wrong
    try:
        parts = urlsplit(text if "://" in text else f"tcp://{text}")
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise wrong from None
    beyond = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None
    if parts.scheme not in (*ENCRYPTED, *UNENCRYPTED) or not host or beyond:
        raise wrong
    return parts.scheme, host, port


def _is_loopback(host: str) -> bool:
    """Whether the host is this machine; names other than localhost may lead anywhere."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def far_pool(
    address: str, vocabulary: Vocabulary, info: SourceInfo, activity: Activity, say: Callable[[str], None]
) -> Pool:
    """The workers of a cluster, once there are any."""
    try:
        from wikitopics.session.training.intake.cluster import Cluster
    except ModuleNotFoundError:
        raise BadUsage(DASK.needed(CLUSTER.flag)) from None
    cluster = Cluster(address, vocabulary, info, activity)
    await asyncio.to_thread(cluster.connect)
    say(f"counting on a cluster: {cluster.jobs()} threads of {cluster.workers} workers")
    return cluster


async def open_with_retries(source: Source, say: Callable[[str], None]) -> SourceInfo:
    """Open the source; if it takes longer than a moment, say what is being waited for."""
    opening = asyncio.ensure_future(source.open())
    told = None
    try:
        while not (await asyncio.wait({opening}, timeout=2.0))[0]:
            errors = source.activity.errors
            waiting = errors[-1].text if errors else source.activity.waiting_for
            if waiting and waiting != told:
                told = waiting
                say(waiting + _for_how_long(source.activity))
    finally:
        opening.cancel()
    return await opening


def _for_how_long(activity: Activity) -> str:
    """How long a wait will last, if that is known."""
    if activity.trying_until is not None:
        return f"; trying for another {max(0.0, activity.trying_until - time.time()):.0f} s"
    if activity.waiting_until is not None:
        return f"; next request at {time.strftime('%H:%M:%S', time.localtime(activity.waiting_until))}"
    return ""
