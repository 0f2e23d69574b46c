"""Figures in README and docs: the number before a mark, or the table between two marks, is a measured one.

    | redraw at 200x60 | 14.3<!--screen.draw.milliseconds:.1f--> ms |

The mark names part, point and figure (and parts of a figure after further dots), and gives the number's
format as in Python. A table that a part writes stands between `<!--table PART.NAME-->` and `<!--/table-->`.
"""

import importlib.util
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.frame.part import Figures, Part, load
from benchmarks.frame.results import RESULTS, ROOT, Results

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PICTURES = ROOT / "docs" / "pictures"
FIGURE = re.compile(r"([-+]?\d[\d,]*(?:\.\d+)?)?<!--([a-z]\w*(?:\.[\w-]+)+):([^ >]*)-->")
TABLE = re.compile(r"(<!--table (\w+)\.(\w+)-->\n).*?(<!--/table-->)", re.DOTALL)


def measured(key: str) -> float:
    """The figure that a mark names. Raises KeyError."""
    part, point, *names = key.split(".")
    found: object = Results(part, RESULTS).figures()[point]
    for name in names:
        if not isinstance(found, Mapping):
            raise KeyError(key)
        found = found[name]
    if not isinstance(found, int | float):
        raise KeyError(key)
    return found


def _written(match: re.Match[str]) -> str:
    _, key, form = match.groups()
    return f"{measured(key):{form}}<!--{key}:{form}-->"


def _table(match: re.Match[str]) -> str:
    begin, part, name, end = match.groups()
    figures: Mapping[str, Figures] = Results(part, RESULTS).figures()
    return f"{begin}{load(part).pages[name](figures)}\n{end}"


def filled(page: str) -> str:
    """A page with the figures and tables of today's results. Raises KeyError for a mark that names none."""
    return TABLE.sub(_table, FIGURE.sub(_written, page))


def drawn(part: Part) -> Iterator[Path]:
    """Draw a part's pictures if it has results and matplotlib is installed."""
    figures = Results(part.name, RESULTS).figures()
    if not figures or importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    for name, picture in part.pictures.items():
        path = PICTURES / f"{part.name}-{name}.svg"
        # so that the same figures give the same file
        with pyplot.rc_context({"svg.hashsalt": path.name}):
            picture(figures).savefig(path, metadata={"Date": None})
        pyplot.close()
        yield path


def stale() -> Iterator[tuple[Path, str]]:
    """(page, what it should be) of pages that differ from what was measured."""
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        if (new := filled(page)) != page:
            yield path, new
