"""Trainers stopped at random instants in every possible way, with the file checked after each stop.

`on_counts`: three kinds of models, one thread and two. `on_a_wiki`: the embedded wiki while it
misbehaves.
`on_the_demo`: `wikitopics demo --headless`. `power_cuts`: see `benchmarks.stops.power`.

After each stop the file must open, pass SQLite's integrity check, keep its account and hold an
exact prefix of the stream, and nothing that the trainer started may live on. A session interrupted
again and again must end with the same models as an undisturbed one, bit for bit (counts), and with
every article once (wiki, demo).
"""

import contextlib
import random
import signal
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.harness import Experiment, Figures
from benchmarks.served import CountedFaults, serving
from benchmarks.stops.files import Broken, check, expect_same, read_only
from benchmarks.stops.power import Cuts, power
from benchmarks.stops.trial import Tally, Trial, counts_command
from tests.wiki import PAGE_KINDS, Faults, FaultyApi, make_app
from wikitopics.crawler.embedded.corpus import SampleArticles, load_sample

EXPERIMENT = Experiment(
    "kills",
    "trainers killed, stopped and cut from power, and their sessions",
    data="none",
    programs="FUSE, as root",
)
FAULTS = (
    "429=0.01,500=0.02,503=0.01,maxlag=0.01,json=0.02,html=0.01,gzip=0.01,reset=0.03,truncated=0.1,"
    "duplicate=0.05,out-of-order=0.03,deleted=0.01,disambiguation=0.02"
)
"""How often the wiki misbehaves, and in which ways."""
MODELS_OF_WIKI = (
    "--model",
    "lda:topics=10,batch_size=256",
    "--model",
    "scvb0:topics=10,batch_size=256",
)


def interrupted(trial: Trial, folder: Path, stops: int, expect: Callable[[Path], None]) -> Tally:
    """Sessions stopped this many times in all. ``expect`` checks each at its end, and raises
    Broken."""
    number = 0
    while trial.tally.stops < stops:
        number += 1
        path = folder / f"rough{number}.db"
        # The last session is trained to its end, so that there is always one to check.
        if not trial.interrupted(path, stops):
            trial.undisturbed(path)
        try:
            check(path)
            expect(path)
        except Broken as error:
            trial.tally.broken.append(f"{path.stem} at its end: {error}")
    return trial.tally


def counts(folder: Path, stops: int, documents: int) -> Tally:
    """Word counts: interrupted sessions against an undisturbed one."""
    trial = Trial(folder, counts_command(folder, documents), random.Random(0), threads=True)
    calm = folder / "calm.db"
    trial.undisturbed(calm)
    return interrupted(trial, folder, stops, lambda path: expect_same(path, calm))


def wiki(folder: Path, stops: int, articles: int) -> Tally:
    """The embedded wiki, misbehaving."""
    injected = CountedFaults(Faults.parse(FAULTS).rates)
    api = FaultyApi(SampleArticles(load_sample(), articles), faults=injected)
    with serving(make_app(api, latency=0.02)) as url:
        command = ["train", "--api-url", url, "--rpm", "0", "--held-out", "100", *MODELS_OF_WIKI]
        tally = crawls(folder, command, stops, articles)
    tally.bad_replies = sum(injected.injected.values())
    for kind in PAGE_KINDS:
        tally.bad_pages += sum(injected.hits(kind, article) for article in range(articles))
    return tally


def demo(folder: Path, stops: int, articles: int) -> Tally:
    """`wikitopics demo --headless`, whose wiki is its own child."""
    command = ["demo", "--headless", "--wiki-size", str(articles)]
    return crawls(folder, command, stops, articles)


def crawls(folder: Path, command: list[str], stops: int, articles: int) -> Tally:
    """Sessions over a wiki: each must have crawled every article once."""

    def expect_all(path: Path) -> None:
        with contextlib.closing(read_only(path)) as connection:
            (crawled,) = connection.execute("SELECT crawled FROM progress").fetchone()
        if crawled != articles:
            raise Broken(f"{crawled} pages crawled of a wiki of {articles}")

    trial = Trial(folder, command, random.Random(0), threads=False)
    return interrupted(trial, folder, stops, expect_all)


def _in_a_folder(trial: Callable[[Path], Tally | Cuts]) -> Figures:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    with tempfile.TemporaryDirectory() as name:
        return trial(Path(name)).figures()


for _name, _trial in (
    ("on_counts", partial(counts, stops=100, documents=20_000)),
    ("on_a_wiki", partial(wiki, stops=100, articles=8_000)),
    ("on_the_demo", partial(demo, stops=20, articles=6_000)),
    ("power_cuts", partial(power, times=20, documents=60_000)),
):
    EXPERIMENT.add(_name, partial(_in_a_folder, _trial))
