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
    ranks = painted.ranks()
    topics = {of_text.topic: of_text for of_text in painted.topics}
    pieces = []
    end = 0
    for word in painted.words:
        if word.end > len(text) or topic not in (None, word.topic) or word.start == word.end:
            continue
        of_text = topics[word.topic]
        classes = f"a{of_text.colour} p{_tenths(word.probability)}"
        name = of_text.name
        if word.topic in ranks and topic is None:
            classes += f" u{ranks[word.topic]}"
            name = f"{ranks[word.topic] + 1} {name}"
        told = f"{visible(name)}: {word.probability:.0%}"
        pieces.append(_plain(text[end : word.start]))
        pieces.append(
            Markup('<mark class="{}" title="{}">{}</mark>').format(
                classes, told, _plain(text[word.start : word.end])
            )
        )
        end = word.end
    pieces.append(_plain(text[end:]))
    html = Markup('<p class="painted" dir="auto">{}</p>').format(Markup("").join(pieces))
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


def _tenths(probability: float) -> int:
    """The probability as the number of a class, from 0 to 9."""
    return min(int(10 * probability), 9)


def _plain(text: str) -> Markup:
    """Foreign text, of whose control characters only line ends stay."""
    return escape("\n".join(map(visible, text.split("\n"))))
