"""Figures in README and docs are measured: README's by the list here, those of docs by marks on the page.

    | redraw at 200x60 | 14.3<!--screen.draw.milliseconds:.1f--> ms |

A mark names experiment, point and figure (and parts of a figure after further dots), and gives the format of
the number before it as in Python. A table that an experiment writes stands between
`<!--table EXPERIMENT.NAME-->` and `<!--/table-->`.
"""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import ROOT, figures, load

README = (
    (
        "({} against {} nats per word), in {} CPU seconds instead of {};",
        "peers.full_our_scvb0.log_likelihood:.2f",
        "peers.full_gibbs_lda.log_likelihood:.2f",
        "peers.full_our_scvb0.seconds:.1f",
        "peers.full_gibbs_lda.seconds:.0f",
    ),
    ("with its own proportions, the HDP predicts best ({}).", "peers.full_our_hdp.own:.2f"),
    ("Online LDA is {} times as fast as scikit-learn's.", "speed.lda_sklearn_full.times:.0f"),
)
"""What README says, with its figures left open, and which ones these are."""
PICTURES = ROOT / "docs" / "pictures"
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
MARK = re.compile(rf"({NUMBER})?<!--([a-z]\w*(?:\.[\w-]+)+:[^ >]*)-->")
TABLE = re.compile(r"(<!--table (\w+)\.(\w+)-->\n).*?(<!--/table-->)", re.DOTALL)


def measured(figure: str) -> str:
    """The figure of a mark, in its format. Raises KeyError."""
    key, _, form = figure.partition(":")
    experiment, point, *names = key.split(".")
    found = figures(experiment)[point]
    for name in names:
        if not isinstance(found, dict):
            raise KeyError(key)
        found = found[name]
    if not isinstance(found, int | float):
        raise KeyError(key)
    return format(found, form)


def filled(page: str) -> str:
    """A page of docs with the figures and tables of today's results. Raises KeyError for a mark that names
    none."""

    def written(match: re.Match[str]) -> str:
        begin, experiment, name, end = match.groups()
        return f"{begin}{load(experiment).tables[name](figures(experiment))}\n{end}"

    return TABLE.sub(written, MARK.sub(lambda match: f"{measured(match[2])}<!--{match[2]}-->", page))


def filled_readme(page: str) -> str:
    """README with the figures of today's results. Raises ValueError if it does not say something listed."""
    for phrase, *keys in README:
        # white space as it is on the page, where lines end
        gaps = re.escape(phrase).replace(r"\ ", r"\s+").replace(r"\{\}", f"({NUMBER})")
        found = re.search(gaps, page)
        if found is None:
            raise ValueError(f"README does not say: {phrase}")
        for number, key in reversed(list(enumerate(keys, start=1))):
            page = page[: found.start(number)] + measured(key) + page[found.end(number) :]
    return page


def stale() -> Iterator[tuple[Path, str]]:
    """(page, what it should be) of pages that differ from what was measured."""
    readme = ROOT / "README.md"
    for path in (readme, *sorted((ROOT / "docs").glob("*.md"))):
        page = path.read_text(encoding="utf-8")
        if (new := filled_readme(page) if path == readme else filled(page)) != page:
            yield path, new


def drawn(name: str) -> Iterator[Path]:
    """Draw an experiment's pictures if it has results and matplotlib is installed."""
    found = figures(name)
    if not found or importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    for picture, draw in load(name).pictures.items():
        path = PICTURES / f"{name}-{picture}.svg"
        # so that the same figures give the same file
        with pyplot.rc_context({"svg.hashsalt": path.name}):
            draw(found).savefig(path, metadata={"Date": None})
        pyplot.close()
        yield path
