"""What README and docs claim, measured again.

    python -m benchmarks                    what there is, what it needs, and when it was published
    python -m benchmarks crawl screen.keys  measure experiments, or points of them
    python -m benchmarks --missing          measure whatever has no figures here yet

Each point runs in a process of its own. Its figures are kept at once, with commit, machine and
data, in benchmarks/data/results, outside the repository, and the experiment's tables are printed.
Run nothing else meanwhile: the load before each point is kept as well. Word counts are those of the
corpora that `python -m benchmarks.data` tells of.

    python -m benchmarks --publish crawl    keep the figures in benchmarks/results, for the docs
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
    table,
)
from benchmarks.measuring import cpu_seconds

QUIET = 0.5
"""Load above which something else is running."""
LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}
"""Variables of the environment. With the first, Python would keep no compiled sources, and every
start of the program would be a first one. With the others, OpenBLAS may run slower kernels than the
processor allows."""
SET = {"OPENBLAS_NUM_THREADS": "1"}
"""Those that every point has, as the program has them: of several threads of OpenBLAS, those that
have nothing to do wait busily, which would count as CPU seconds."""
UNAVAILABLE = 3
"""Exit code of a point that cannot be measured here."""


def overview(folder: Path) -> None:
    """Print a table with a line for each experiment: what it needs, the minutes that its published
    points took, and how many of its points are measured here."""
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
    rows = []
    for name in names():
        experiment = load(name)
        published = stored(name)
        runs = [published[point]["run"] for point in experiment.points if point in published]
        commits = {f"{run['commit']} ({run['date']})" for run in runs}
        minutes = sum(run["seconds"] for run in runs) / 60
        packages: set[str] = set()
        for point in experiment.points.values():
            packages.update(point.needs)
        programs = sorted(packages)
        if experiment.programs:
            programs.append(experiment.programs)
        seconds_here = [point["run"]["cpu_seconds"] for point in stored(name, folder).values()]
        here = f"{len(seconds_here)} of {len(experiment.points)}"
        if seconds_here:
            here += f" in {sum(seconds_here) / 60:.1f} CPU minutes"
        row = (
            name,
            experiment.what,
            experiment.data,
            ", ".join(programs),
            f"{minutes:.1f}",
            f"{len(runs)}",
            ", ".join(sorted(commits)) or "none",
            here,
        )
        rows.append(row)
    print(table(head, rows))


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
    cpu_before = cpu_seconds()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "benchmarks", "--point", key, file.name]
        kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        environment = kept | SET
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code == UNAVAILABLE:
            return None
        if code:
            print(f"{key}: FAILED", file=sys.stderr)
            return False
        found = json.loads(Path(file.name).read_text(encoding="utf-8"))
    run["data"] = origin()
    run["seconds"] = round(time.monotonic() - started, 1)
    run["cpu_seconds"] = round(cpu_seconds() - cpu_before, 1)
    keep(folder, experiment.name, name, found, run)
    numbers = [
        f"{figure} {value:,.4g}"
        for figure, value in found.items()
        if isinstance(value, int | float)
    ]
    print(f"{key}: {', '.join(numbers)}", flush=True)
    return True


def measure_here(key: str, target: Path) -> int:
    """Measure a point in this process and write its figures as JSON; return the exit code."""
    ((experiment, point),) = chosen([key])
    try:
        found = experiment.points[point].measure()
    except Unavailable as error:
        print(f"{key}: not measured, {error}", file=sys.stderr)
        return UNAVAILABLE
    target.write_text(json.dumps(found), encoding="utf-8")
    return 0


def measure_all(points: Sequence[tuple[Experiment, str]], folder: Path) -> list[bool | None]:
    """Measure these points and print the tables of their experiments; return what `measure` did for
    each."""
    load_before = os.getloadavg()[0]  # later it is that of the measurements as well
    if load_before > QUIET:
        print(f"something else is running: load {load_before:.1f}", file=sys.stderr)
    print(f"word counts: {origin()}", flush=True)
    outcomes = [measure(experiment, point, folder) for experiment, point in points]
    measured_experiments = {experiment.name: experiment for experiment, _ in points}
    for experiment in measured_experiments.values():
        for name, as_table in experiment.tables.items():
            with suppress(KeyError, ValueError):  # a table of points that are not measured yet
                table = as_table(figures(experiment.name, folder))
                print(f"\n{experiment.name}, {name}:\n\n{table}")
    return outcomes


def write_docs() -> None:
    """Draw all pictures and write the published figures into README and docs."""
    for name in names():
        for path in pages.drawn(name):
            print(f"{path.relative_to(ROOT)} drawn")
    for path, page in pages.stale():
        path.write_text(page, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} written")


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
        key, target = options.point
        return measure_here(key, Path(target))
    if options.publish and origin() != PUBLISHED:
        parser.error(f"what is published is of other articles than {origin()}")
    if options.publish:
        folder = RESULTS
    else:
        # Figures of other articles are kept apart.
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
        if options.missing:
            points = [
                (experiment, point)
                for experiment, point in points
                if point not in stored(experiment.name, folder)
            ]
        outcomes = measure_all(points, folder)
    if options.docs:
        write_docs()
    elif not options.what and not options.missing:
        overview(folder)
    nothing_measured = bool(outcomes) and True not in outcomes
    if False in outcomes or nothing_measured:
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; --missing goes on")
