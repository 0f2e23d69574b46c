"""Sessions and topics in a notebook: small pieces of HTML that load nothing, everything in them escaped."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from wikitopics.session.analysis.report.small import Course, bars, growth
from wikitopics.session.analysis.report.svg import cut
from wikitopics.session.escapes import visible
from wikitopics.session.records import in_line

POINTS = 36
"""The most points of a topic's curve."""
_STYLE = Markup(
    """<style>
:is(#wikitopics, .wikitopics) {  /* as strong as an id: notebooks have rules for tables, too */
  --c: #2b86ad; max-width: 62rem;
  & table { border-collapse: collapse; margin: .4em 0; font-variant-numeric: tabular-nums }
  & tr { background: none; border: 0 }
  & tr + tr { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent) }
  & :is(th, td) { text-align: left; vertical-align: middle; padding: .2em .8em .2em 0; font-weight: inherit }
  & .words, & .note { opacity: .75 }
  & .note { margin: .4em 0 }
  & svg { display: block; width: 9em; height: 1.6em }
  & .own { fill: var(--c); fill-opacity: .35 }
  & .line { fill: none; stroke: var(--c); stroke-width: 1.5; vector-effect: non-scaling-stroke }
  & .bars { position: relative; width: 12em }
  & .bars svg { position: absolute; inset: 0; width: 95%; height: 100% }
  & .bars path { stroke: var(--c); stroke-width: .68 }
  & .bars .all { stroke-opacity: .28 }
}
</style>"""
)


def framed(*parts: Markup) -> str:
    """The pieces as one, with their style."""
    return str(Markup('<div class="wikitopics">{}{}</div>').format(_STYLE, Markup("").join(parts)))


def noted(text: str) -> Markup:
    """A line above a table."""
    return Markup('<p class="note">{}</p>').format(visible(text))


def listed(topics: Iterable[tuple[int, str, float, Course, Sequence[str]]]) -> Markup:
    """A row for each topic: its number, name, share, how that grew, and its words."""
    row = Markup("<tr><td>{}</td><th>{}</th><td>{:.1%}</td><td>{}</td><td class='words'>{}</td></tr>")
    return _table(
        row.format(number, _word(name, 80), share, growth(course, POINTS), in_line(map(_word, words)))
        for number, name, share, course, words in topics
    )


def described(words: Sequence[tuple[str, float, float]]) -> Markup:
    """A row for each word of one topic, as in the report: (word, its probability, the topic's own part)."""
    picture = Markup("<td class='bars' rowspan='{}'>{}</td>").format(len(words), bars(words))
    row = Markup("<tr><th>{}</th>{}<td>{:.1%}</td></tr>")
    return _table(
        row.format(_word(word), Markup("") if place else picture, probability)
        for place, (word, probability, _) in enumerate(words)
    )


def _table(rows: Iterable[Markup]) -> Markup:
    return Markup("<table>{}</table>").format(Markup("").join(rows))


def _word(text: str, most: int = 40) -> str:
    return cut(visible(text), most)
