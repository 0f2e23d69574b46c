"""A small dump on a little server, and its stream as a trainer gets it."""

from pathlib import Path

from yarl import URL

from tests.crawler.dumps import multistream
from wikitopics.crawler.dumps.remote import RemoteDump
from wikitopics.crawler.dumps.shuffled import LocalDump
from wikitopics.crawler.source import Asked
from wikitopics.session.training.blocks import Intake, counting_workers

WORDS = ("article", "r")
NUMBERS = range(1, 401)
PATH = "/enwiki/latest/dump.bz2"
DATA = multistream(NUMBERS, every=3)


def remote(urls, clock, kept=None, agreed=True, contact=None, budget_folder=None, **more):
    return RemoteDump(
        [URL(url) for url in urls],
        kept or {},
        Asked({}, seed=5, held_out=30, version="1", budget_folder=budget_folder),
        contact=contact,
        agreed=agreed,
        clock=clock,
        **more,
    )


def local(paths, **asked):
    return LocalDump({"dump": list(map(str, paths))}, Asked({}, **{"seed": 5, "held_out": 30} | asked))


async def kept_by(url, clock):
    """What a session keeps of the dump at ``url``: its identity."""
    source = remote([url], clock)
    try:
        return dict((await source.open()).identity)
    finally:
        await source.close()


async def read(source, position=None, blocks=None):
    """(page ids, the last position, what was told) of a source, which is then closed."""
    feed = None
    found, told = [], []
    try:
        info = await source.open()
        feed = Intake(source, counting_workers(WORDS, info, 1))
        feed.start(position)
        while blocks is None or blocks > 0:
            block = await feed.next()
            if block is None:
                break
            found += block.page_ids.tolist()
            told += block.warnings
            position = block.position
            blocks = blocks and blocks - 1
    finally:
        await (feed or source).close()
    return found, position, told


async def of_files(tmp_path, *datas):
    paths = []
    for number, data in enumerate(datas):
        paths.append(str(tmp_path / f"{number}.dump"))
        Path(paths[-1]).write_bytes(data)
    return (await read(local(paths)))[0]
