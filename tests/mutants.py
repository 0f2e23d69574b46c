"""How many small faults the tests notice: mutation testing on a sample, with cosmic-ray's operators.

    .venv/bin/pip install cosmic-ray
    .venv/bin/python -m tests.mutants                 # 160 mutants, about an hour on a core; can be resumed
    .venv/bin/python -m tests.mutants --again         # after new tests: those that survived, once more

`mutants.toml` says what is mutated how, which tests cover which file, and which mutants are no faults.
It works on a copy of the sources in `.mutants/` and keeps the results there.
"""

import argparse
import contextlib
import fnmatch
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".mutants"
CONFIGURATION = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))
ROOMS = ("model", "session", "crawler", "vocab")


@dataclass(frozen=True)
class Mutant:
    """One change to one file; ``line`` counts from 1, ``before`` and ``after`` are that line's text."""

    file: str
    operator: str
    occurrence: int
    line: int
    before: str
    after: str


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def operators() -> dict[str, Operator]:
    chosen = CONFIGURATION["operators"]
    return {name: get_operator(name)() for name in operator_names() if matches(name, chosen)}


def files(root: Path = ROOT) -> list[str]:
    """The files that are mutated, relative to ``root``."""
    found = (str(path.relative_to(root)) for room in ROOMS for path in (root / room).rglob("*.py"))
    return sorted(name for name in found if not matches(name, CONFIGURATION["without"]))


def places(code: str) -> list[list[tuple[str, int]]]:
    """For every place in the code that can be changed: the operators that do, with their occurrence."""
    found: dict[object, list[tuple[str, int]]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    known = operators()
    for node in ast_nodes(get_ast(code)):
        for name, operator in known.items():
            for place in operator.mutation_positions(node):
                found[place].append((name, seen[name]))
                seen[name] += 1
    return list(found.values())


def sample(number: int, seed: int) -> Iterator[Mutant]:
    """``number`` mutants: each place in the code is equally likely, then each change at that place."""
    chance = random.Random(seed)
    everywhere = [
        (name, place) for name in files() for place in places((ROOT / name).read_text(encoding="utf-8"))
    ]
    print(f"{len(everywhere)} places in {len(files())} files", flush=True)

    def drawn() -> Iterator[Mutant]:
        for name, place in chance.sample(everywhere, len(everywhere)):
            with contextlib.suppress(AttributeError):  # cosmic-ray cannot replace a dotted name
                yield described(name, *chance.choice(place))

    return itertools.islice(drawn(), number)


def mutated(name: str, operator: str, occurrence: int) -> tuple[str, str]:
    """The file's code before and after."""
    code = (ROOT / name).read_text(encoding="utf-8")
    return code, mutate_code(code, get_operator(operator)(), occurrence) or code


def described(name: str, operator: str, occurrence: int) -> Mutant:
    before, after = (text.splitlines() for text in mutated(name, operator, occurrence))
    pairs = zip(before, after, strict=False)
    line = next((i for i, (one, other) in enumerate(pairs) if one != other), 0)
    return Mutant(name, operator, occurrence, line + 1, before[line].strip(), after[line].strip())


def tests_of(name: str) -> list[str]:
    """The tests that cover a file: those of its own name first, then those of its rule."""
    own = ROOT / "tests" / Path(name).parent / f"test_{Path(name).stem.lstrip('_')}.py"
    rule = next(rule for rule in CONFIGURATION["tests"] if matches(name, rule["files"]))
    chosen = [str(own.relative_to(ROOT))] if own.exists() else []
    return list(dict.fromkeys(chosen + rule["run"]))


def copied(tree: Path) -> Path:
    """A copy of the sources, its byte code checked by content: a file may change twice within a second."""
    shutil.rmtree(tree, ignore_errors=True)
    skipped = shutil.ignore_patterns(".*", "__pycache__", "results")
    shutil.copytree(ROOT, tree, ignore=skipped, symlinks=True)
    check = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
    subprocess.run([sys.executable, *check], cwd=tree, check=True)
    return tree


def passes(tests: Iterable[str], tree: Path, seconds: float) -> bool:
    """Whether these tests pass in the copy; tests that time out do not."""
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-o", "timeout=150", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    environment = {"WIKITOPICS_SHARED": str(ROOT.parent / "shared"), **os.environ}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(WORK / "kernels")}
    with open(tree.with_suffix(".log"), "wb") as log:
        there = {"cwd": tree, "env": environment, "start_new_session": True}
        process = subprocess.Popen(command, stdout=log, stderr=log, **there)
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def survives(mutant: Mutant, tree: Path, seconds: float) -> bool:
    """Whether the tests pass with the mutant in the copy."""
    before, after = mutated(mutant.file, mutant.operator, mutant.occurrence)
    target = tree / mutant.file
    target.write_text(after, encoding="utf-8")
    try:
        return passes(tests_of(mutant.file), tree, seconds)
    finally:
        target.write_text(before, encoding="utf-8")


def no_fault(mutant: Mutant) -> bool:
    """Whether it is known to change nothing observable."""
    return any(
        matches(mutant.file, [known["file"]])
        and (mutant.before, mutant.after) == (known["before"], known["after"])
        for known in CONFIGURATION["equivalent"]
    )


def report(results: dict[Mutant, bool]) -> None:
    """The survivors and the share of the others."""
    faults = {mutant: survived for mutant, survived in results.items() if not no_fault(mutant)}
    for mutant, survived in faults.items():
        if survived:
            print(f"survived: {mutant.file}:{mutant.line}\n    - {mutant.before}\n    + {mutant.after}")
    killed = len(faults) - sum(faults.values())
    print(
        f"{len(results)} mutants, {len(results) - len(faults)} of them no faults; "
        f"noticed {killed} of {len(faults)}: {killed / max(len(faults), 1):.1%}"
    )


def kept(path: Path) -> dict[Mutant, bool | None]:
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {Mutant(**entry["mutant"]): entry["survived"] for entry in entries}


def keep(path: Path, results: dict[Mutant, bool | None]) -> None:
    entries = [{"mutant": asdict(mutant), "survived": survived} for mutant, survived in results.items()]
    path.write_text(json.dumps(entries, indent=1), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--seconds", type=float, default=600, help="after which a mutant counts as noticed")
    chosen = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    path = WORK / f"results-{chosen.number}-{chosen.seed}.json"
    results = kept(path) if path.exists() else dict.fromkeys(sample(chosen.number, chosen.seed))
    keep(path, results)
    ahead = [
        mutant
        for mutant, survived in results.items()
        if not no_fault(mutant) and (survived is None or (survived and chosen.again))
    ]
    tree, everything = copied(WORK / "tree"), sorted({test for one in ahead for test in tests_of(one.file)})
    if ahead and not passes(everything, tree, 6 * chosen.seconds):
        raise SystemExit(f"without any mutant a test fails: {tree.with_suffix('.log')}")
    for mutant in ahead:
        results[mutant] = survives(mutant, tree, chosen.seconds)
        print("survived" if results[mutant] else "noticed ", f"{mutant.file}:{mutant.line}", flush=True)
        keep(path, results)
    report({mutant: survived for mutant, survived in results.items() if survived is not None})


if __name__ == "__main__":
    main()
