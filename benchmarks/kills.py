"""Trainers stopped at random instants in every way there is, and the file looked at after each.

    python benchmarks/kills.py counts --stops 100         word counts, three kinds of models, 1 and 2 threads
    python benchmarks/kills.py wiki --stops 50            the embedded wiki while it misbehaves
    python benchmarks/kills.py demo --stops 20            `wikitopics demo --headless`
    python benchmarks/kills.py power --times 20           power cuts (as root on Linux): see _kills_power.py

After each stop the file must open, pass SQLite's integrity check, keep its account and hold an exact
prefix of the stream, and nothing that the trainer started may live on. A session interrupted again and
again must end with the same models as an undisturbed one, bit for bit (counts), and with every article
once (wiki, demo). Prints a table and writes results/kills-*.json.
"""

import argparse
import contextlib
import json
import random
import signal
import sys
import tempfile
from pathlib import Path

from _disk import Unavailable, prepare
from _kills_files import Broken, check, expect_same, read_only
from _kills_power import power
from _kills_trial import KINDS, ROOT, Tally, Trial, counts_command
from _kills_wiki import FaultyWiki

RESULTS = ROOT / "benchmarks" / "results"
FAULTS = (
    "429=0.01,500=0.02,503=0.01,maxlag=0.01,json=0.02,html=0.01,gzip=0.01,reset=0.03,truncated=0.1,"
    "duplicate=0.05,out-of-order=0.03,deleted=0.01,disambiguation=0.02"
)


def counts(folder: Path, stops: int, documents: int, seed: int = 0) -> Tally:
    """Word counts: interrupted sessions against an undisturbed one."""
    trial = Trial(folder, counts_command(folder, documents), random.Random(seed), threads=True)
    calm = folder / "calm.db"
    trial.undisturbed(calm)
    number = 0
    while trial.tally.stops < stops:
        number += 1
        path = folder / f"rough{number}.db"
        # The last session is trained to its end, so that there is always one to compare.
        if not trial.interrupted(path, stops):
            trial.undisturbed(path)
        try:
            check(path)
            expect_same(path, calm)
        except Broken as error:
            trial.tally.broken.append(f"{path.stem} at its end: {error}")
    return trial.tally


def wiki(folder: Path, stops: int, articles: int, faults: str, seed: int = 0) -> Tally:
    """The embedded wiki, misbehaving."""
    served = FaultyWiki(articles, faults, latency=0.02)
    try:
        command = ["train", "--api-url", served.url, "--rpm", "0", "--held-out", "100", *MODELS_OF_WIKI]
        tally = crawls(folder, command, stops, articles, random.Random(seed))
    finally:
        served.stop()
    tally.faults = dict(served.faults.injected) | {f"page {k}": n for k, n in served.bad_pages.items() if n}
    return tally


MODELS_OF_WIKI = ("--model", "lda:topics=10,batch_size=256", "--model", "scvb0:topics=10,batch_size=256")


def demo(folder: Path, stops: int, articles: int, seed: int = 0) -> Tally:
    """`wikitopics demo --headless`, whose wiki is its own child."""
    command = ["demo", "--headless", "--wiki-size", str(articles)]
    return crawls(folder, command, stops, articles, random.Random(seed))


def crawls(folder: Path, command: list[str], stops: int, articles: int, rng: random.Random) -> Tally:
    trial = Trial(folder, command, rng, threads=False)
    number = 0
    while trial.tally.stops < stops:
        number += 1
        path = folder / f"crawl{number}.db"
        if not trial.interrupted(path, stops):
            trial.undisturbed(path)
        try:
            check(path)
            with contextlib.closing(read_only(path)) as connection:
                (crawled,) = connection.execute("SELECT crawled FROM progress").fetchone()
            if crawled != articles:
                raise Broken(f"{crawled} pages crawled of a wiki of {articles}")
        except Broken as error:
            trial.tally.broken.append(f"{path.stem} at its end: {error}")
    return trial.tally


def cut_power(folder: Path, times: int, articles: int, seed: int) -> int:
    """The exit code; prints and writes what was found."""
    try:
        prepare()
        found = power(folder, times, articles, seed)
    except Unavailable as error:
        print(f"no power can be cut here: {error}", file=sys.stderr)
        return 2
    print(found)
    write(found.values())
    return 1 if found.broken else 0


def write(values: dict[str, object]) -> None:
    """Keep the figures."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"kills-{values['what']}.json").write_text(json.dumps(values, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["counts", "wiki", "demo", "power"])
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--times", type=int, default=20, help="power: how often it is cut")
    parser.add_argument("--articles", type=int, default=20_000)
    parser.add_argument("--faults", default=FAULTS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "power":
            return cut_power(folder, options.times, options.articles, options.seed)
        if options.what == "counts":
            tally = counts(folder, options.stops, options.articles, options.seed)
        elif options.what == "wiki":
            tally = wiki(folder, options.stops, options.articles, options.faults, options.seed)
        else:
            tally = demo(folder, options.stops, options.articles, options.seed)
    print(f"| {options.what} | tried | survived |\n|---|---|---|")
    for kind in KINDS:
        print(f"| {kind} | {tally.tried[kind]} | {tally.survived[kind]} |")
    print(f"sessions interrupted until their end: {tally.finished}; slowest stop {tally.slowest_stop:.1f} s")
    if tally.faults:
        print(f"faults on the way: {sum(tally.faults.values()):,}, {tally.faults}")
    if tally.locked:
        print(f"looked at in vain while a stopped trainer held the file: {tally.locked} times")
    for line in tally.broken:
        print("BROKEN", line)
    values = {
        "what": options.what,
        "articles": options.articles,
        "tried": dict(tally.tried),
        "survived": dict(tally.survived),
        "sessions": tally.finished,
        "slowest_stop_seconds": round(tally.slowest_stop, 2),
        "faults": tally.faults,
        "locked_while_stopped": tally.locked,
        "broken": tally.broken,
    }
    write(values)
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
