"""Painted texts on a page: small pieces of HTML, with everything in them escaped.

Here words are (start, end, word, topic, probability), and topics (topic, share, name, number of its
colour), as `PaintedText` has them. The styles are `painted.css`, and the class of each colour.
"""

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.escapes import visible

Words = Sequence[tuple[int, int, str, int, float]]
Topics = Sequence[tuple[int, float, str, int]]

LONGEST = 20_000
"""The most characters that are shown."""
_GREY = len(COLOURS) - 1
"""The colour of topics that share one."""


def painted_html(text: str, words: Words, topics: Topics, only: int | None = None) -> Markup:
    """The text with its words painted: the more likely a word comes from a topic, the stronger its
    colour. A word tells its topic and the probability when the pointer is over it.

    ``only``: paint only the words that most likely come from this topic.
    """
    marks = {topic: (style, name) for topic, style, name in _marks(topics, only)}
    shown = text[:LONGEST]
    pieces: list[str] = []
    end = 0
    for start, stop, _, topic, probability in words:
        if topic not in marks or stop > len(shown):
            continue
        style, name = marks[topic]
        tenths = min(int(10 * probability), 9)
        pieces.append(_plain(shown[end:start]))
        pieces.append(f'<mark class="{style} p{tenths}" title="{name}: {probability:.0%}">')
        pieces.append(_plain(shown[start:stop]))
        pieces.append("</mark>")
        end = stop
    pieces.append(_plain(shown[end:]))
    html = Markup('<p class="painted" dir="auto">{}</p>').format(Markup("".join(pieces)))
    if len(shown) < len(text):
        left_out = f"the first {LONGEST:,} of {len(text):,} characters"
        html += Markup('<p class="note">{}</p>').format(left_out)
    return html


def _marks(topics: Topics, only: int | None) -> Iterator[tuple[int, str, Markup]]:
    """For each topic whose words are painted: the classes of its words, and its name."""
    for rank, (topic, _, name, colour) in enumerate(topics):
        if only is not None:
            if topic == only:
                yield topic, f"a{colour}", escape(visible(name))
        elif colour == _GREY:
            yield topic, f"a{colour}", escape(visible(name))
        else:
            yield topic, f"a{colour} u{rank}", escape(f"{rank + 1} {visible(name)}")


def legend(topics: Topics) -> Markup:
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
