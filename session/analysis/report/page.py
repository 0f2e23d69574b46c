"""The report's page: one HTML file with its style and its script, which loads nothing else. Also
pieces of such a page for notebooks.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.report import map_page, pictures, topic_map
from wikitopics.session.analysis.report.letters import cut
from wikitopics.session.analysis.report.painted import colours, topic_html
from wikitopics.session.analysis.report.painted import framed as framed
from wikitopics.session.analysis.report.parts import LARGEST, asset, policy
from wikitopics.session.escapes import visible
from wikitopics.session.wording import APART, age, found_sign, in_line, snippet_shown

if TYPE_CHECKING:
    from wikitopics.session.analysis.report.contents import ReportModel

MAPS = 1_000_000
"""The most bytes of all maps of articles on it."""
SMALLEST_MAP = 200_000
"""The bytes without which a map of articles would show too little."""
QUOTED = 8_000
"""The bytes by which a page grows when it becomes an attribute of another."""


class Detail(NamedTuple):
    """How much a page tells of each topic, at most."""

    points: int
    """The points of its small curve."""
    words: int
    past: int
    """The moments of its past."""
    articles: int
    snippet: int
    """The characters of the beginning of each article's text; 0 also leaves out the topic's words
    in it."""


DETAILS = (
    Detail(points=48, words=12, past=9, articles=10, snippet=200),
    Detail(points=28, words=8, past=5, articles=4, snippet=120),
    Detail(points=20, words=6, past=4, articles=3, snippet=0),
    Detail(points=12, words=4, past=2, articles=2, snippet=0),
    Detail(points=6, words=3, past=2, articles=1, snippet=0),
)
"""The first of these that gives a small enough page is used; if none does, the last, with fewer
topics."""
MOST_SHOWN = 30
"""The number of a model's topics that are listed at first; the others are folded."""
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
        "points": _points,
        "part": lambda part: "" if part is None else f"{part:.2f}",
        "moment": moment,
        "duration": age,
        "thin": pictures.thin,
        "cut": cut,
        "in_words": lambda event: cut(visible(event.told()), 200),
        "found_sign": found_sign,
        "painted": lambda painted, topic, most: topic_html(
            painted.text, painted.words, topic, most
        ),
        "megabytes": lambda size: f"{size / 1e6:,.1f} MB",
    }
    environment.globals |= {"growth": pictures.growth, "bars": pictures.bars}
    style = asset("page.css") + asset("painted.css") + colours()
    for area, colour in enumerate(COLOURS):
        style += f".f-area{area} {{ fill: {colour} }}\n"
    script = asset("page.js") + asset("map.js") + asset("curves.js")
    template = environment.get_template("page.html.jinja")
    models = contents["models"]
    names = {model.place: model.status.name for model in models}
    parts = contents | {
        "style": Markup(style),
        "script": Markup(script),
        "n_series": pictures.SERIES,
        "charts": [
            (metric, curves, pictures.chart(metric, curves, names, contents["read_noun"]))
            for metric, curves in contents["metrics"]
        ],
        "line": topic_map.LINE,
        "most_events": MOST_EVENTS,
        "most_shown": MOST_SHOWN,
    }
    with_map = [model for model in models if model.articles is not None and len(model.articles)]

    def rendered(drawn: dict[str, Any], detail: Detail, articles: dict[str, str]) -> str:
        styles = [style, map_page.style()] if articles else [style]
        scripts = [script, map_page.script()] if articles else [script]
        told = {
            "articles": articles,
            "articles_left_out": len(with_map) - len(articles),
            "policy": policy(styles, scripts),
        }
        return str(template.render(parts | drawn | told, detail=detail))

    drawings = _drawings(models)
    # Topics are told in detail, and the maps of articles get the rest; if that is too little, all
    # is for the topics.
    for detail in DETAILS[:2] if with_map else ():
        html = rendered(drawings, detail, {})
        left = LARGEST - len(html.encode())
        room = min(MAPS, left) // len(with_map)
        if room >= SMALLEST_MAP:
            return rendered(drawings, detail, _articles(with_map, room - QUOTED))
    for detail in DETAILS:
        html = rendered(drawings, detail, {})
        if len(html.encode()) <= LARGEST:
            return html
    # Only long names, such as somebody may have written into the file, come here.
    most = max(len(model.topics) for model in models)
    while most > 1 and len(html.encode()) > LARGEST:
        most //= 2
        drawings = _drawings([model.largest(most) for model in models])
        html = rendered(drawings, DETAILS[-1], {})
    return html


def _articles(with_map: Sequence["ReportModel"], most: int) -> dict[str, str]:
    """The page of each model's map of articles, of at most so many bytes, by the model's anchor."""
    pages = {}
    for model in with_map:
        assert model.articles is not None
        pages[model.anchor] = model.articles.page(most)
    return pages


def _drawings(models: Sequence["ReportModel"]) -> dict[str, Any]:
    """The models, and drawings of the topics that they have."""
    maps_of_models = {}
    trees = {}
    for model in models:
        if model.topics:
            areas = [area.number for area, _ in model.groups]
            layouts = [topic_map.layout(model, form) for form in (topic_map.WIDE, topic_map.NARROW)]
            maps_of_models[model.anchor] = [
                (layout, list(topic_map.coasts(layout.land, areas))) for layout in layouts
            ]
        if len(model.groups) > 1:
            trees[model.anchor] = pictures.topic_tree(model)
    return {"models": models, "maps": maps_of_models, "trees": trees}


def _points(share: float) -> str:
    """A difference of shares, such as "+0.25 points"."""
    points = round(100 * share, 2) + 0.0  # adding 0 turns -0.0 into 0.0
    return f"{points:+.2f} points".replace("-", "−")


def moment(at: float) -> str:
    """A date as "22 November 2026, 04:10 UTC"."""
    return time.strftime("%-d %B %Y, %H:%M %Z", time.localtime(at))


# Sessions and topics in a notebook: small pieces of HTML that load nothing, with everything in them
# escaped.

POINTS = 36
"""The most points of a topic's curve."""


def noted(text: str) -> Markup:
    """A line of text beside a table; nothing for an empty one."""
    if not text:
        return Markup("")
    return Markup('<p class="note">{}</p>').format(visible(text))


def listed(
    topics: Iterable[
        tuple[int, str, float | None, float, pictures.Course, Sequence[str], Sequence[str]]
    ],
) -> Markup:
    """A row for each topic: its number, its name, the part of the replicas that have it, its share,
    how the share grew, its words, and the titles of its most typical articles."""
    row = Markup(
        "<tr><td>{}</td><th>{} {}</th><td>{:.1%}</td><td>{}</td><td><span class='words'>{}</span>"
        "<br>{}</td></tr>"
    )
    rows = []
    for number, name, found, share, course, words, titles in topics:
        growth = pictures.growth(course, POINTS)
        line = in_line(map(_word, words))
        rows.append(
            row.format(
                number, found_sign(found), _word(name, 80), share, growth, line, titled(titles)
            )
        )
    return _table(rows)


def titled(titles: Iterable[str]) -> Markup:
    """Titles in one line."""
    return Markup(APART).join(Markup("<bdi>{}</bdi>").format(_word(title, 50)) for title in titles)


def described(words: Sequence[tuple[str, float, float]]) -> Markup:
    """A row for each word of one topic, as in the report: (word, its probability, the topic's own
    part)."""
    picture = Markup("<td class='bars' rowspan='{}'>{}</td>")
    cell = picture.format(len(words), pictures.bars(words))
    row = Markup("<tr><th>{}</th>{}<td>{:.1%}</td></tr>")
    rows = []
    for word, probability, _ in words:
        rows.append(row.format(_word(word), cell, probability))
        cell = Markup("")  # the first row's cell spans all rows
    return _table(rows)


Spans = Callable[[str], Iterable[tuple[int, int]]]
"""The parts of a text that are to be marked."""


def found(
    heading: str,
    topics: Iterable[tuple[int, str, float, Sequence[str]]],
    documents: Iterable[tuple[float, str, str]],
    spans: Spans,
) -> Markup:
    """What words find under a heading: a table of topics, (number, name, times, words), and one of
    documents, (score, title, snippet), with the words marked."""
    of_topic = Markup("<tr><td>{}</td><th>{}</th><td>{:.1f}×</td><td class='words'>{}</td></tr>")
    topic_rows = []
    for number, name, times, words in topics:
        shown = in_line(map(_word, words))
        marked_name = _marked(_word(name, 80), spans)
        topic_rows.append(of_topic.format(number, marked_name, times, _marked(shown, spans)))
    of_document = Markup(
        "<tr><td>{:.2f}</td><th><bdi>{}</bdi></th><td class='words'><bdi>{}</bdi></td></tr>"
    )
    document_rows = []
    for score, title, snippet in documents:
        marked_title = _marked(_word(title, 80), spans)
        marked_snippet = _marked(visible(snippet_shown(snippet)), spans)
        document_rows.append(of_document.format(score, marked_title, marked_snippet))
    tables = [_table(rows) for rows in (topic_rows, document_rows) if rows]
    return Markup("").join([noted(heading), *tables])


def _marked(text: str, spans: Spans) -> Markup:
    """A text with these parts of it marked."""
    pieces = Markup("")
    end = 0
    for start, stop in spans(text):
        pieces += text[end:start]  # which escapes it
        pieces += Markup("<mark>{}</mark>").format(text[start:stop])
        end = stop
    return pieces + text[end:]


def _table(rows: Iterable[Markup]) -> Markup:
    return Markup("<table>{}</table>").format(Markup("").join(rows))


def _word(text: str, most: int = 40) -> str:
    return cut(visible(text), most)
