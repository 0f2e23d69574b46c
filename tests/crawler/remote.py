"""A small dump on a little server, and its stream as a trainer gets it."""

from yarl import URL

from tests.crawler.dumps import multistream, write
from tests.session.memory import blocks_of
from wikitopics.crawler.dumps.remote import RemoteDump
from wikitopics.crawler.dumps.shuffled import LocalDump
from wikitopics.crawler.source import Asked
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.jobs import counting_workers

WORDS = ("article", "r")
NUMBERS = range(1, 401)
PATH = "/enwiki/latest/dump.bz2"
DATA = multistream(NUMBERS, every=3)


def remote(urls, clock, kept=None, agreed=True, contact=None, budget_folder=None, **options):
    """The dump at these addresses; ``kept``: its identity in a session, if it has one."""
    asked = Asked({}, seed=5, held_out=30, version="1", budget_folder=budget_folder)
    return RemoteDump(
        [URL(url) for url in urls],
        kept or {},
        asked,
        contact=contact,
        agreed=agreed,
        clock=clock,
        **options,
    )


async def kept_by(url, clock):
    """What a session keeps of the dump at ``url``: its identity."""
    source = remote([url], clock)
    try:
        return dict((await source.open()).identity)
    finally:
        await source.close()


async def read(source, position=None, blocks=None):
    """(page ids, the last position, messages) of a source, which is then closed."""
    try:
        info = await source.open()
    except BaseException:
        await source.close()
        raise
    intake = Intake(source, counting_workers(WORDS, info, 1))
    found = await blocks_of(intake, position, blocks)
    ids = []
    messages = []
    for block in found:
        ids += block.page_ids.tolist()
        messages += block.warnings
    return ids, found[-1].position, messages


async def of_files(tmp_path, *datas):
    """The page ids of a dump in files of these bytes, in the order of its stream."""
    paths = [write(tmp_path / f"{number}.dump", data) for number, data in enumerate(datas)]
    dump = LocalDump({"dump": list(map(str, paths))}, Asked({}, seed=5, held_out=30))
    ids, _, _ = await read(dump)
    return ids
