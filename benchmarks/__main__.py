"""What README and docs claim, measured again.

    python -m benchmarks                    what there is, when it was measured, and at which commit
    python -m benchmarks crawl screen.keys  measure experiments, or points of them
    python -m benchmarks --missing          measure whatever has no figures yet
    python -m benchmarks --docs             write the figures into README and docs

Each point runs in a process of its own, and its figures are kept in benchmarks/results/EXPERIMENT.json at
once, with the commit. Run nothing else meanwhile: the load before each point is kept as well.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import pages
from benchmarks.harness import (
    ROOT,
    Experiment,
    Unavailable,
    chosen,
    commit,
    keep,
    load,
    names,
    provenance,
    stored,
)

QUIET = 0.5
"""Load above which something else is running."""
LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}
"""Variables of the environment. With the first, Python would keep no compiled sources, and every start of the
program would be a first one. With the others, OpenBLAS may run slower kernels than the processor allows."""
UNAVAILABLE = 3
"""Exit code of a point that cannot be measured here."""


def overview() -> None:
    """A line for each experiment: minutes, points measured, commits."""
    print(f"| experiment | what | minutes | measured | at commit ({commit()} is here) |\n|{'---|' * 5}")
    for name in names():
        experiment, found = load(name), stored(name)
        there = [found[point]["run"] for point in experiment.points if point in found]
        commits = ", ".join(sorted({f"{run['commit']} ({run['date']})" for run in there})) or "none"
        minutes = sum(point.minutes for point in experiment.points.values())
        measured = f"{len(there)} of {len(experiment.points)}"
        print(f"| {name} | {experiment.what} | {minutes:.0f} | {measured} | {commits} |")


def measure(experiment: Experiment, name: str) -> bool:
    """Measure a point in a process of its own and keep it; return whether that worked."""
    point, key = experiment.points[name], f"{experiment.name}.{name}"
    if missing := point.missing():
        print(f"{key}: not measured, {', '.join(missing)} is not installed", file=sys.stderr)
        return True
    run, started = provenance(point.needs), time.monotonic()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "benchmarks", "--point", key, file.name]
        environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code:
            if code != UNAVAILABLE:
                print(f"{key}: FAILED", file=sys.stderr)
            return code == UNAVAILABLE
        figures = json.loads(Path(file.name).read_text(encoding="utf-8"))
    keep(experiment.name, name, figures, {**run, "seconds": round(time.monotonic() - started, 1)})
    numbers = (f"{key} {value:,.4g}" for key, value in figures.items() if isinstance(value, int | float))
    print(f"{key}: {', '.join(numbers)}", flush=True)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="*", metavar="EXPERIMENT[.POINT]")
    parser.add_argument("--missing", action="store_true", help="measure whatever has no figures yet")
    parser.add_argument("--docs", action="store_true", help="write the figures into README and docs")
    parser.add_argument("--point", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.point:
        name, target = options.point
        ((experiment, point),) = chosen([name])
        try:
            figures = experiment.points[point].measure()
        except Unavailable as error:
            print(f"{name}: not measured, {error}", file=sys.stderr)
            return UNAVAILABLE
        Path(target).write_text(json.dumps(figures), encoding="utf-8")
        return 0
    worked = True
    if options.what or options.missing:
        try:
            points = list(chosen(options.what))
        except KeyError as error:
            parser.error(f"no experiment or point {error}: `python -m benchmarks` lists them")
        if (load_before := os.getloadavg()[0]) > QUIET:  # later it is that of the measurements as well
            print(f"something else is running: load {load_before:.1f}", file=sys.stderr)
        for experiment, point in points:
            if not options.missing or point not in stored(experiment.name):
                worked = measure(experiment, point) and worked
    if options.docs:
        for name in names():
            for path in pages.drawn(name):
                print(f"{path.relative_to(ROOT)} drawn")
        for path, page in pages.stale():
            path.write_text(page, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")
    elif not options.what and not options.missing:
        overview()
    return 0 if worked else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; --missing goes on")
