"""What README and docs claim, measured again.

    python -m benchmarks                    what there is, when it was measured, and at which commit
    python -m benchmarks crawl screen.keys  measure parts or points, unless their figures are up to date
    python -m benchmarks --all              everything
    python -m benchmarks --again screen     measure again even what is up to date
    python -m benchmarks --docs             write the figures into README and docs

Figures are up to date until one of the program's rooms that their part runs changes. Each point runs in a
process of its own, and its figures are kept in benchmarks/results/PART.json at once. Stop whenever you like,
and continue with the same command. Run nothing else meanwhile: the load before each point is kept as well.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.frame import Unavailable, pages
from benchmarks.frame.part import Part, chosen, load, names
from benchmarks.frame.results import ROOT, Results, Run, begin, code, commit

QUIET = 0.5
"""Load above which something else is running."""
LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}
"""Variables of the environment. With the first, Python would keep no compiled sources, and every start of the
program would be a first one. With the others, OpenBLAS may run slower kernels than the processor allows."""
UNAVAILABLE = 3
"""Exit code of a point that cannot be measured here."""


def overview() -> None:
    """A line for each part: minutes, points measured, commits."""
    print(f"| part | what | minutes | points | up to date | of commit ({commit()} is here) |\n|{'---|' * 6}")
    for name in names():
        part, results = load(name), Results(name)
        runs = [run for point in part.points if (run := results.run(point))]
        fresh = sum(up_to_date(part, run) for run in runs)
        commits = ", ".join(sorted({run.commit for run in runs})) or "none"
        minutes = sum(point.minutes for point in part.points.values())
        measured = f"{len(runs)} of {len(part.points)} | {fresh}"
        print(f"| {name} | {part.what} | {minutes:.0f} | {measured} | {commits} |")


def up_to_date(part: Part, run: Run | None) -> bool:
    return run is not None and run.code == code(part.rooms)


def measure(part: Part, name: str) -> bool:
    """Measure a point in a process of its own and keep it; return whether that worked."""
    point = part.points[name]
    if missing := point.missing():
        print(f"{part.name}.{name}: not measured, {', '.join(missing)} is not installed", file=sys.stderr)
        return True
    run, started = begin(part.rooms, point.needs), time.monotonic()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "benchmarks", "--point", f"{part.name}.{name}", file.name]
        environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code:
            if code != UNAVAILABLE:
                print(f"{part.name}.{name}: FAILED", file=sys.stderr)
            return code == UNAVAILABLE
        figures = json.loads(Path(file.name).read_text(encoding="utf-8"))
    Results(part.name).keep(name, figures, replace(run, seconds=round(time.monotonic() - started, 1)))
    print(f"{part.name}.{name}: {said(figures)}", flush=True)
    return True


def said(figures: dict[str, object]) -> str:
    """The numbers among the figures, as one line."""
    return ", ".join(
        f"{name} {value:,.4g}" for name, value in figures.items() if isinstance(value, (int, float))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="*", metavar="PART[.POINT]")
    parser.add_argument("--all", action="store_true", help="all parts")
    parser.add_argument("--again", action="store_true", help="also what is up to date")
    parser.add_argument("--docs", action="store_true", help="write the figures into README and docs")
    parser.add_argument("--point", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.point:
        name, target = options.point
        ((part, point),) = chosen([name])
        try:
            figures = part.points[point].measure()
        except Unavailable as error:
            print(f"{name}: not measured, {error}", file=sys.stderr)
            return UNAVAILABLE
        assert not part.strays(), f"{name} runs {part.strays()} as well: add to the part's rooms"
        Path(target).write_text(json.dumps(figures), encoding="utf-8")
        return 0
    worked = True
    if options.what or options.all:
        try:
            points = list(chosen(options.what))
        except KeyError as error:
            parser.error(f"no part or point {error}: `python -m benchmarks` lists them")
        if (load_before := os.getloadavg()[0]) > QUIET:  # later it is that of the measurements as well
            print(f"something else is running: load {load_before:.1f}", file=sys.stderr)
        for each, point in points:
            run = Results(each.name).run(point)
            if options.again or not up_to_date(each, run):
                worked = measure(each, point) and worked
    if options.docs:
        for name in names():
            for path in pages.drawn(load(name)):
                print(f"{path.relative_to(ROOT)} drawn")
        for path, page in pages.stale():
            path.write_text(page, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")
    elif not options.what and not options.all:
        overview()
    return 0 if worked else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")
