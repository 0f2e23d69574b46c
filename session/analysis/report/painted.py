"""Painted texts on a page: small pieces of HTML, with everything in them escaped.

Here words are (start, end, word, topic, probability), and topics (topic, share, name, number of its
colour), as `PaintedText` has them. The styles are `painted.css`, and the class of each colour.
"""

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.report.parts import asset
from wikitopics.session.escapes import visible

WordTuples = Sequence[tuple[int, int, str, int, float]]
TopicTuples = Sequence[tuple[int, float, str, int]]

LONGEST = 20_000
"""The most characters that are shown."""
_GREY = len(COLOURS) - 1
"""The colour of topics that share one."""


def painted_html(text: str, words: WordTuples, topics: TopicTuples) -> Markup:
    """The text with its words painted: the more likely a word comes from a topic, the stronger its
    colour. A word tells its topic and the probability when the pointer is over it."""
    marks = {}
    for rank, (topic, _, name, colour) in enumerate(topics):
        if colour == _GREY:
            marks[topic] = f"a{colour}", f"{visible(name)}: "
        else:
            marks[topic] = f"a{colour} u{rank}", f"{rank + 1} {visible(name)}: "
    shown = text[:LONGEST]
    painted = _painted(shown, words, marks)
    html = Markup('<p class="painted" dir="auto">{}</p>').format(painted)
    if len(shown) < len(text):
        left_out = f"the first {LONGEST:,} of {len(text):,} characters"
        html += Markup('<p class="note">{}</p>').format(left_out)
    return html


def topic_html(text: str, words: WordTuples, topic: int, most: int) -> Markup:
    """The first ``most`` characters of a text, with the words painted that most likely come from
    one topic. The element around it needs the class `painted` and that of a colour."""
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return _painted(shown, words, {topic: ("", "")})


def _painted(text: str, words: WordTuples, marks: Mapping[int, tuple[str, str]]) -> Markup:
    """The text with the words of some topics painted, as far as it has them. ``marks``: the classes
    of a topic's words, and what they tell besides the probability."""
    escaped = {topic: (style, escape(told)) for topic, (style, told) in marks.items()}
    pieces: list[str] = []
    end = 0
    for start, stop, _, topic, probability in words:
        if topic not in escaped or stop > len(text):
            continue
        style, told = escaped[topic]
        classes = f"{style} p{min(int(10 * probability), 9)}".strip()
        pieces.append(_plain(text[end:start]))
        pieces.append(f'<mark class="{classes}" title="{told}{probability:.0%}">')
        pieces.append(_plain(text[start:stop]))
        pieces.append("</mark>")
        end = stop
    pieces.append(_plain(text[end:]))
    return Markup("".join(pieces))


def legend(topics: TopicTuples) -> Markup:
    """The topics of a text, each with its number, its line, its name and its share; those that
    share a colour together."""
    if not topics:
        return Markup('<p class="note">no word of the vocabulary is in this text</p>')
    item = Markup('<li><mark class="a{} u{} p9"><b>{}</b> {}</mark> {:.0%}</li>')
    items = [
        item.format(colour, rank, rank + 1, visible(name), share)
        for rank, (_, share, name, colour) in enumerate(topics)
        if colour != _GREY
    ]
    others = [share for _, share, _, colour in topics if colour == _GREY]
    if others:
        rest = Markup('<li><mark class="a{} p9">{}</mark> {:.0%}</li>')
        items.append(rest.format(_GREY, "other topics", sum(others)))
    return Markup('<ul class="painted">{}</ul>').format(Markup("").join(items))


def _plain(text: str) -> Markup:
    """Foreign text, of whose control characters only line ends stay."""
    if not text.isprintable():
        text = "\n".join(map(visible, text.split("\n")))
    return escape(text)


def colours(within: str = "") -> str:
    """The styles of the classes that give a piece the colour of an area; ``within``: the selector
    of what such pieces are in."""
    return "".join(f"{within}.a{area} {{ --a: {colour} }}\n" for area, colour in enumerate(COLOURS))


def framed(*parts: Markup) -> str:
    """Pieces of HTML together as one, for a notebook, with their style."""
    style = asset("notebook.css") + asset("painted.css") + colours(".wikitopics ")
    piece = Markup('<div class="wikitopics"><style>\n{}</style>{}</div>')
    return str(piece.format(Markup(style), Markup("").join(parts)))
