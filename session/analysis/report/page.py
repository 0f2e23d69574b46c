"""The report's page: one HTML file with its style and its script, which loads nothing else. Also
pieces of it for notebooks.
"""

import base64
import hashlib
import time
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.report import maps, pictures
from wikitopics.session.escapes import visible
from wikitopics.session.records import age, in_line

if TYPE_CHECKING:
    from wikitopics.session.analysis.report.contents import ReportModel

LARGEST = 2_990_000
"""The most bytes of a page: small enough for a phone and an e-mail."""


DETAIL = ("points", "words", "past", "articles")
"""What `DETAILS` limit for each topic: the points of its small curve, its words and so on."""
DETAILS = (
    (48, 12, 9, 10),
    (28, 8, 5, 4),
    (20, 6, 4, 3),
    (12, 4, 2, 2),
    (8, 3, 2, 1),
)
"""The first of these that gives a small enough page is used, otherwise the last, with fewer
topics."""
MOST_SHOWN = 30
"""The number of a model's topics that are listed at first; the others are folded."""
FEW = 50
"""With fewer held-out texts, words that never meet in them say nothing about a topic's
coherence."""
MOST_EVENTS = 200
"""The number of a model's events that are listed; older ones are only counted."""


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
        "formatted": pictures.formatted,
        "points": lambda part: f"{round(100 * part, 2) + 0.0:+.2f} points".replace("-", "−"),
        "moment": moment,
        "duration": age,
        "thin": pictures.thin,
        "cut": pictures.cut,
        "in_words": lambda event: pictures.cut(visible(event.told()), 200),
        "megabytes": lambda size: f"{size / 1e6:,.1f} MB",
    }
    environment.globals |= {"growth": pictures.growth, "bars": pictures.bars}
    style = _asset("page.css") + "".join(
        f".a{area} {{ --a: {colour} }} .f-area{area} {{ fill: {colour} }}\n"
        for area, colour in enumerate(COLOURS)
    )
    script = _asset("page.js") + _asset("map.js")
    template = environment.get_template("page.html.jinja")
    models = contents["models"]
    names = {model.place: model.status.name for model in models}
    parts = contents | {
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        "n_series": pictures.SERIES,
        "charts": [
            (metric, curves, pictures.chart(metric, curves, names, contents["read_noun"]))
            for metric, curves in contents["metrics"]
        ],
        "line": maps.LINE,
        "few": FEW,
        "most_events": MOST_EVENTS,
        "most_shown": MOST_SHOWN,
    }
    drawn = parts | _drawings(models)
    for detail in DETAILS:
        made = str(template.render(drawn, detail=dict(zip(DETAIL, detail, strict=True))))
        if len(made.encode()) <= LARGEST:
            return made
    # Only long names, such as somebody may have written into the file, come here.
    most = max(len(model.topics) for model in models)
    while most > 1 and len(made.encode()) > LARGEST:
        most //= 2
        drawn = parts | _drawings([model.largest(most) for model in models])
        made = str(template.render(drawn, detail=dict(zip(DETAIL, DETAILS[-1], strict=True))))
    return made


def _drawings(models: Sequence["ReportModel"]) -> dict[str, Any]:
    """The models, and drawings of the topics that they have."""
    return {
        "models": models,
        "maps": {
            model.anchor: [
                (drawn, list(maps.coasts(drawn.land, [area.number for area, _ in model.groups])))
                for drawn in (maps.layout(model, form) for form in (maps.WIDE, maps.NARROW))
            ]
            for model in models
            if model.topics
        },
        "trees": {
            model.anchor: pictures.topic_tree(model) for model in models if len(model.groups) > 1
        },
    }


def moment(at: float) -> str:
    """A date as "22 November 2026, 04:10 UTC"."""
    return time.strftime("%-d %B %Y, %H:%M %Z", time.localtime(at))


def _asset(name: str) -> str:
    return (
        resources.files("wikitopics.session.analysis.report")
        .joinpath("assets", name)
        .read_text("utf-8")
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Sessions and topics in a notebook: small pieces of HTML that load nothing, with everything in them
# escaped.

POINTS = 36
"""The most points of a topic's curve."""


def framed(*parts: Markup) -> str:
    """The pieces together as one, with their style."""
    piece = Markup('<div class="wikitopics"><style>\n{}</style>{}</div>')
    return str(piece.format(Markup(_asset("notebook.css")), Markup("").join(parts)))


def noted(text: str) -> Markup:
    """A line above a table."""
    return Markup('<p class="note">{}</p>').format(visible(text))


def listed(topics: Iterable[tuple[int, str, float, pictures.Course, Sequence[str]]]) -> Markup:
    """A row for each topic: its number, its name, its share, how the share grew, and its words."""
    row = Markup(
        "<tr><td>{}</td><th>{}</th><td>{:.1%}</td><td>{}</td><td class='words'>{}</td></tr>"
    )
    return _table(
        row.format(
            number,
            _word(name, 80),
            share,
            pictures.growth(course, POINTS),
            in_line(map(_word, words)),
        )
        for number, name, share, course, words in topics
    )


def described(words: Sequence[tuple[str, float, float]]) -> Markup:
    """A row for each word of one topic, as in the report: (word, its probability, the topic's own
    part)."""
    picture = Markup("<td class='bars' rowspan='{}'>{}</td>").format(
        len(words), pictures.bars(words)
    )
    row = Markup("<tr><th>{}</th>{}<td>{:.1%}</td></tr>")
    return _table(
        row.format(_word(word), Markup("") if place else picture, probability)
        for place, (word, probability, _) in enumerate(words)
    )


def _table(rows: Iterable[Markup]) -> Markup:
    return Markup("<table>{}</table>").format(Markup("").join(rows))


def _word(text: str, most: int = 40) -> str:
    return pictures.cut(visible(text), most)
