"""Sessions and topics in a notebook: small pieces of HTML that load nothing, everything in them escaped."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from wikitopics.session.analysis.report.contents import course_of as course_of
from wikitopics.session.analysis.report.page import short
from wikitopics.session.analysis.report.small import Course, bars, growth
from wikitopics.session.escapes import visible
from wikitopics.session.records import in_line

if TYPE_CHECKING:
    from wikitopics.stored import Topic

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


def listed(topics: "Iterable[Topic]", courses: Mapping[int, Course]) -> Markup:
    """A row for each topic: number, name, share and how it grew, words."""
    row = Markup("<tr><td>{}</td><th>{}</th><td>{:.1%}</td><td>{}</td><td class='words'>{}</td></tr>")
    return _table(
        row.format(
            topic.number,
            _word(topic.name, 80),
            topic.share,
            growth(courses[topic.number], POINTS),
            in_line(_word(word) for word in topic.words[:10]),
        )
        for topic in topics
    )


def described(topic: "Topic") -> Markup:
    """A row for each word of one topic, with its probability, as in the report."""
    words = list(zip(topic.words, topic.probabilities, topic.own, strict=True))
    picture = Markup("<td class='bars' rowspan='{}'>{}</td>").format(len(words), bars(words))
    row = Markup("<tr><th>{}</th>{}<td>{:.1%}</td></tr>")
    return _table(
        row.format(_word(word), Markup("") if place else picture, probability)
        for place, (word, probability, _) in enumerate(words)
    )


def _table(rows: Iterable[Markup]) -> Markup:
    return Markup("<table>{}</table>").format(Markup("").join(rows))


def _word(text: str, most: int = 40) -> str:
    return short(visible(text), most)
