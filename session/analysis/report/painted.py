"""Painted texts on a page: small pieces of HTML, with everything in them escaped.

The styles are `painted.css`. They need the class of each colour, which the page has.
"""

from markupsafe import Markup, escape

from wikitopics.session.analysis.painted import PaintedText
from wikitopics.session.escapes import visible

LONGEST = 20_000
"""The most characters that are shown."""


def painted_html(painted: PaintedText, topic: int | None = None) -> Markup:
    """The text with its words painted: the more likely a word comes from a topic, the stronger its
    colour. A word tells its topic and the probability when the pointer is over it.

    ``topic``: paint only the words that most likely come from this topic.
    """
    text = painted.text[:LONGEST]
    marks = _marks(painted) if topic is None else _marks_of(painted, topic)
    pieces: list[str] = []
    end = 0
    for word in painted.words:
        mark = marks.get(word.topic)
        if mark is None or word.end > len(text):
            continue
        tenths = min(int(10 * word.probability), 9)
        pieces.append(_plain(text[end : word.start]))
        pieces.append(
            f'<mark class="{mark[0]} p{tenths}" title="{mark[1]}: {word.probability:.0%}">'
        )
        pieces.append(_plain(text[word.start : word.end]))
        pieces.append("</mark>")
        end = word.end
    pieces.append(_plain(text[end:]))
    html = Markup('<p class="painted" dir="auto">{}</p>').format(Markup("".join(pieces)))
    if len(text) < len(painted.text):
        left_out = f"the first {LONGEST:,} of {len(painted.text):,} characters"
        html += Markup('<p class="note">{}</p>').format(left_out)
    return html


def legend(painted: PaintedText) -> Markup:
    """The text's topics, each with its number, its line, its name and its share."""
    item = Markup('<li><mark class="a{} u{} p9"><b>{}</b> {}</mark> {:.0%}</li>')
    items = [
        item.format(topic.colour, rank, rank + 1, visible(topic.name), topic.share)
        for rank, topic in enumerate(painted.key)
    ]
    if not items:
        return Markup('<p class="note">no word of the vocabulary is in this text</p>')
    beyond = sum(topic.share for topic in painted.topics[len(items) :])
    if len(painted.topics) > len(items):
        grey = Markup('<li><mark class="a{} p9">{}</mark> {:.0%}</li>')
        items.append(grey.format(painted.topics[-1].colour, "other topics", beyond))
    return Markup('<ul class="painted">{}</ul>').format(Markup("").join(items))


def _marks(painted: PaintedText) -> dict[int, tuple[str, Markup]]:
    """The classes of the words of each topic, and its name, in which nothing is left to escape."""
    marks = {}
    for rank, topic in enumerate(painted.topics):
        classes = f"a{topic.colour}"
        name = visible(topic.name)
        if rank < len(painted.key):
            classes += f" u{rank}"
            name = f"{rank + 1} {name}"
        marks[topic.topic] = classes, escape(name)
    return marks


def _marks_of(painted: PaintedText, number: int) -> dict[int, tuple[str, Markup]]:
    """The same for the words of this topic alone."""
    return {
        topic.topic: (f"a{topic.colour}", escape(visible(topic.name)))
        for topic in painted.topics
        if topic.topic == number
    }


def _plain(text: str) -> Markup:
    """Foreign text, of whose control characters only line ends stay."""
    if not text.isprintable():
        text = "\n".join(map(visible, text.split("\n")))
    return escape(text)
