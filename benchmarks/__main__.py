"""What README and docs claim, measured again.

    python -m benchmarks                    what there is, what it needs, and when it was published
    python -m benchmarks crawl screen.keys  measure experiments, or points of them
    python -m benchmarks --missing          measure whatever has no figures here yet

Each point runs in a process of its own. Its figures are kept at once, with commit, machine and
data, in benchmarks/data/results, outside the repository, and the experiment's tables are printed.
Run nothing else meanwhile: the load before each point is kept as well. Word counts are those of the
corpora that `python -m benchmarks.data` tells of.

    python -m benchmarks --publish crawl    keep the figures in benchmarks/results, where README and
                                            docs take them from
    python -m benchmarks --docs             write the published figures into README and docs
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks import pages
from benchmarks.data import PUBLISHED, origin
from benchmarks.harness import (
    FOLDER,
    RESULTS,
    ROOT,
    Experiment,
    Unavailable,
    chosen,
    commit,
    figures,
    keep,
    load,
    names,
    provenance,
    stored,
)
from benchmarks.measuring import cpu_seconds

QUIET = 0.5
"""Load above which something else is running."""
LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}
"""Variables of the environment. With the first, Python would keep no compiled sources, and every
start of the program would be a first one. With the others, OpenBLAS may run slower kernels than the
processor allows."""
UNAVAILABLE = 3
"""Exit code of a point that cannot be measured here."""


def overview(folder: Path) -> None:
    """A line for each experiment: what it needs, minutes of the published points, points measured
    here."""
    head = [
        "experiment",
        "what",
        "data",
        "programs",
        "minutes",
        "published",
        f"at commit ({commit()} is here)",
        f"here, with {origin()}",
    ]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name in names():
        experiment = load(name)
        found = stored(name)
        published = [found[point]["run"] for point in experiment.points if point in found]
        commits = sorted({f"{run['commit']} ({run['date']})" for run in published})
        minutes = sum(run["seconds"] for run in published) / 60
        packages = {package for point in experiment.points.values() for package in point.needs}
        programs = sorted(packages)
        if experiment.programs:
            programs.append(experiment.programs)
        seconds_here = [point["run"]["cpu_seconds"] for point in stored(name, folder).values()]
        here = f"{len(seconds_here)} of {len(experiment.points)}"
        if seconds_here:
            here += f" in {sum(seconds_here) / 60:.1f} CPU minutes"
        cells = [
            name,
            experiment.what,
            experiment.data,
            ", ".join(programs),
            f"{minutes:.1f}",
            f"{len(published)}",
            ", ".join(commits) or "none",
            here,
        ]
        print(f"| {' | '.join(cells)} |")


def measure(experiment: Experiment, name: str, folder: Path) -> bool | None:
    """Measure a point in a process of its own and keep it in `folder`; return whether that worked,
    or None if this machine lacks something for it."""
    point = experiment.points[name]
    key = f"{experiment.name}.{name}"
    missing = point.missing()
    if missing:
        print(f"{key}: not measured, {', '.join(missing)} is not installed", file=sys.stderr)
        return None
    run = provenance(point.needs)
    started = time.monotonic()
    used = cpu_seconds()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "benchmarks", "--point", key, file.name]
        environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code == UNAVAILABLE:
            return None
        if code:
            print(f"{key}: FAILED", file=sys.stderr)
            return False
        found = json.loads(Path(file.name).read_text(encoding="utf-8"))
    run |= {"data": origin(), "seconds": round(time.monotonic() - started, 1)}
    run["cpu_seconds"] = round(cpu_seconds() - used, 1)
    keep(folder, experiment.name, name, found, run)
    numbers = (
        f"{key} {value:,.4g}" for key, value in found.items() if isinstance(value, int | float)
    )
    print(f"{key}: {', '.join(numbers)}", flush=True)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="*", metavar="EXPERIMENT[.POINT]")
    parser.add_argument(
        "--list", action="store_true", help="list the experiments, as without arguments"
    )
    parser.add_argument(
        "--missing", action="store_true", help="measure whatever has no figures here yet"
    )
    parser.add_argument(
        "--publish", action="store_true", help="keep the figures in benchmarks/results"
    )
    parser.add_argument(
        "--docs", action="store_true", help="write the published figures into README and docs"
    )
    parser.add_argument("--point", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.list and (options.what or options.missing or options.publish or options.docs):
        parser.error("--list lists all experiments: leave out the rest")
    if options.point:
        name, target = options.point
        ((experiment, point),) = chosen([name])
        try:
            found = experiment.points[point].measure()
        except Unavailable as error:
            print(f"{name}: not measured, {error}", file=sys.stderr)
            return UNAVAILABLE
        Path(target).write_text(json.dumps(found), encoding="utf-8")
        return 0
    if options.publish and origin() != PUBLISHED:
        parser.error(f"what is published is of other articles than {origin()}")
    if options.publish:
        folder = RESULTS
    else:  # figures of other articles are kept in another folder
        folder = FOLDER / "results" / re.sub(r"\W+", "-", origin())[:100]
    outcomes: list[bool | None] = []
    if options.what or options.missing:
        try:
            points = list(chosen(options.what))
        except KeyError as error:
            parser.error(
                f"no experiment or point {error.args[0]}: `python -m benchmarks` lists the "
                "experiments"
            )
        load_before, _, _ = os.getloadavg()  # later it is that of the measurements as well
        if load_before > QUIET:
            print(f"something else is running: load {load_before:.1f}", file=sys.stderr)
        print(f"word counts: {origin()}", flush=True)
        if options.missing:
            points = [
                (experiment, point)
                for experiment, point in points
                if point not in stored(experiment.name, folder)
            ]
        outcomes = [measure(experiment, point, folder) for experiment, point in points]
        experiments = {experiment.name: experiment for experiment, _ in points}
        for experiment in experiments.values():
            found = figures(experiment.name, folder)
            for name, table in experiment.tables.items():
                with suppress(KeyError, ValueError):  # a table of points that are not measured yet
                    print(f"\n{experiment.name}, {name}:\n\n{table(found)}")
    if options.docs:
        for name in names():
            for path in pages.drawn(name):
                print(f"{path.relative_to(ROOT)} drawn")
        for path, page in pages.stale():
            path.write_text(page, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")
    elif not options.what and not options.missing:
        overview(folder)
    one_failed = False in outcomes
    nothing_was_measured = bool(outcomes) and True not in outcomes
    return 1 if one_failed or nothing_was_measured else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; --missing goes on")
