"""How fast the models are and how well they predict, beside other people's.

    python -m benchmarks.models            every row of the table, and the plot
    python -m benchmarks.models lda.two    only the rows whose name contains this, renewed in the results

Prints a Markdown table; writes benchmarks/results/models.json and models.svg. CPU seconds of this process
and its children. Needs the corpus (see _data.py); peers take part where they are installed (scikit-learn,
gensim, tomotopy, vowpalwabbit), the plot where matplotlib is.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks import _rows_lda
from benchmarks._measure import Curve
from benchmarks._row import Row, rows

importlib.import_module("benchmarks._rows_first")  # rows without a curve
_OTHERS = [
    importlib.import_module(f"benchmarks.{module}")
    for module in ("_rows_scvb0", "_rows_hdp")
    if importlib.util.find_spec(f"benchmarks.{module}")
]

RESULTS = Path(__file__).parent / "results"


def main(only: list[str]) -> None:
    found: list[Row] = []
    print("| what | figure | bar | goal | | |\n|---|---|---|---|---|---|")
    for measure in rows(only).values():
        measured = measure()
        for one in [measured] if isinstance(measured, Row) else measured:
            print(one.line(), flush=True)
            found.append(one)
    if only:
        keep(found, curves=None)
        return
    curves = [_rows_lda.default_curve(), _rows_lda.paper_curve(), *(m.default_curve() for m in _OTHERS)]
    if importlib.util.find_spec("sklearn"):
        curves.append(_rows_lda.sklearn_curve())
    keep(found, curves)
    if importlib.util.find_spec("matplotlib"):
        draw(curves)


def keep(found: list[Row], curves: list[Curve] | None) -> None:
    """Write the results; without curves, measured rows take the place of their namesakes."""
    path = RESULTS / "models.json"
    rows_now = [{**asdict(one), "verdict": one.verdict()} for one in found]
    if curves is None:
        if not path.exists():
            return
        kept = json.loads(path.read_text())
        new = {one["what"]: one for one in rows_now}
        kept["rows"] = [new.get(one["what"], one) for one in kept["rows"]]
    else:
        kept = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "rows": rows_now,
            "curves": [asdict(c) for c in curves],
        }
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n")


def draw(curves: list[Curve]) -> None:
    """Log-likelihood against CPU seconds."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for c in curves:
        axes.plot(c.seconds, c.log_likelihood, marker=".", label=c.name)
    axes.set(xscale="log", xlabel="CPU seconds of learning", ylabel="log-likelihood, nats a held-out word")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "models.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1:])
