"""The page: one HTML file with its style and its script, which loads nothing else."""

import base64
import hashlib
import time
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wikitopics.session.analysis.report.contents import Curves
from wikitopics.session.analysis.report.curves import chart, formatted
from wikitopics.session.analysis.report.small import bars, growth, thin
from wikitopics.session.analysis.report.svg import SERIES, cut
from wikitopics.session.analysis.report.topicmap import NARROW, WIDE, topic_map
from wikitopics.session.analysis.report.topictree import topic_tree
from wikitopics.session.escapes import visible
from wikitopics.session.records import skips_told

LARGEST = 2_990_000
"""The most bytes of a page: small enough for a phone and an e-mail."""


DETAIL = ("points", "words", "looks", "articles")
"""What is shown of each topic: the points of its small curve, and so on."""
DETAILS = (
    (48, 12, 9, 10),
    (36, 10, 7, 6),
    (28, 8, 5, 4),
    (24, 7, 5, 3),
    (20, 6, 4, 3),
    (16, 5, 3, 2),
    (14, 4, 3, 2),
    (12, 4, 2, 2),
    (12, 3, 2, 1),
)
"""The first of these that gives a small enough page is used."""
MOST_SHOWN = 30
"""The topics of a model listed at once; the others are folded."""
FEW = 50
"""Held-out texts below which words that never meet in them say nothing about a topic's coherence."""
MOST_EVENTS = 200
"""The events of a model that are listed; of older ones, only the number is given."""


def page(contents: dict[str, Any]) -> str:
    """The whole page."""
    environment = Environment(
        loader=PackageLoader("wikitopics.session.analysis.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": lambda number: f"{number:,}",
        "percent": lambda part: f"{part:.1%}",
        "formatted": formatted,
        "points": lambda part: f"{round(100 * part, 2) + 0.0:+.2f} points".replace("-", "−"),
        "moment": moment,
        "duration": duration,
        "thin": thin,
        "cut": cut,
        "in_words": lambda event: cut(visible(event.told()), 200),
        "last": last,
        "megabytes": lambda size: f"{size / 1e6:,.1f} MB",
    }
    environment.globals |= {"growth": growth, "bars": bars, "skips_told": skips_told}
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    template = environment.get_template("page.html.jinja")
    models = contents["models"]
    names = {model.place: model.status.name for model in models}
    parts = contents | {
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        "n_series": SERIES,
        "charts": [
            (metric, curves, chart(metric, curves, names, contents["read_noun"]))
            for metric, curves in contents["metrics"]
        ],
        "maps": {
            model.anchor: [topic_map(model, *size) for size in (WIDE, NARROW)]
            for model in models
            if model.topics
        },
        "trees": {model.anchor: topic_tree(model) for model in models if len(model.groups) > 1},
        "few": FEW,
        "most_events": MOST_EVENTS,
        "most_shown": MOST_SHOWN,
    }
    made = ""
    for detail in DETAILS:
        made = str(template.render(parts, detail=dict(zip(DETAIL, detail, strict=True))))
        if len(made.encode()) <= LARGEST:
            break
    return made


def moment(at: float) -> str:
    """A date as "22 November 2026, 04:10 UTC"."""
    return time.strftime("%-d %B %Y, %H:%M %Z", time.localtime(at))


def duration(seconds: float) -> str:
    """A duration as "7 h 12 min", "4 min" or "38 s"."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def last(curves: Curves, place: int) -> str:
    """The newest value of the model at this place; "" if it has none."""
    return formatted(float(curves[place].values[-1])) if place in curves else ""


def _asset(name: str) -> str:
    return resources.files("wikitopics.session.analysis.report").joinpath("assets", name).read_text("utf-8")


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
