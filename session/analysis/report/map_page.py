"""The map of articles as a page of its own: one HTML file with a canvas, which loads nothing else.

A pure function of arrays; it needs no extra.
"""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.cartography import COLOURS, OTHER_COLOUR
from wikitopics.session.analysis.report.parts import LARGEST, asset, policy
from wikitopics.session.escapes import visible
from wikitopics.session.wording import snippet_shown

MOST_DOTS = 250_000
"""The most articles drawn; of more, every second, third, ... in the order of reading."""
NO_TOPIC = 0xFFFF
"""The number that stands for no topic."""
TOPICS_TOLD = 2
"""The number of an article's topics that are told."""
SCALE = ("#4a5fb0", "#3f87b5", "#35a5a0", "#6dbd7d", "#b4c85a", "#e5b04a", "#e27a3f")
"""The colours of the parts of a scale, from the smallest to the largest numbers."""
LONGEST_NAME = 60
LONGEST_TITLE = 120
LONGEST_ADDRESS = 600
WORDS = 10
"""The number of a topic's words that are told."""
MOST_TOPICS = 5000
FEW = 2000
"""No fewer articles are drawn for want of room."""
SAMPLED = 50
"""One in this many articles tells how large a page will be."""
SURELY = 1.2
"""A page that is expected to be this much too large is not made."""
SCRIPTS = ("data", "view", "lands", "dots", "names", "tip", "moving", "search", "time")
"""The parts of the script, in their order."""

_COLOUR = re.compile(r"#[0-9a-f]{6}", re.ASCII)
_ADDRESS = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")
"""Only ASCII letters that are allowed in an address reach a browser."""
_ITS_TITLE = "\x01"
"""Stands for the article's title in its address."""


@dataclass(frozen=True, slots=True)
class Area:
    """An area, or whatever else has a name above those of topics."""

    name: str
    place: tuple[float, float]
    """The middle of its name: x to the right and y upwards, 0 to 1."""
    colour: str = OTHER_COLOUR
    """As "#0088ff"."""
    others: Sequence[tuple[float, float]] = ()
    """Other places at which its name stands, too."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the map."""

    name: str
    words: Sequence[str]
    area: int
    """The index of its area; -1 for none."""
    place: tuple[float, float]
    """The middle of its name, as that of an area."""
    colour: str = OTHER_COLOUR


@dataclass(frozen=True, slots=True)
class Articles:
    """What is known of the articles, in the order of reading; each sequence has one entry for
    each."""

    places: NDArray[np.uint16]
    """(n, 2) x to the right and y upwards."""
    topics: NDArray[np.integer]
    """(n,) or (n, m) the indices of each article's topics, the largest first; -1 for none."""
    titles: Sequence[str]
    addresses: Sequence[str | None] | None = None
    """Those that are not http or https are left out."""
    snippets: Sequence[str | None] | None = None
    """The beginnings of their texts."""
    typical: NDArray[np.floating] | None = None
    """(n,) the larger, the sooner an article's title is shown."""
    colouring: "Colouring | None" = None
    """What to colour by, instead of topics."""
    of: int | None = None
    """How many there are, if these are only those that are `drawn`."""


@dataclass(frozen=True, slots=True)
class Colouring:
    """The colours of n articles by what they are labelled with."""

    keys: Sequence[Mapping[str, str]]
    """The `name` and the `colour` of each label."""
    of_article: NDArray[np.uint8]
    """(n,) the index of each article's."""

    def of_rows(self, rows: NDArray[np.int64]) -> "Colouring":
        """Those of some of the articles: each has its colour whatever is left out."""
        return Colouring(self.keys, self.of_article[rows])


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much a page tells of each article."""

    snippet: int = 0
    """The most characters of its snippet."""
    title: int = LONGEST_TITLE
    address: bool = True
    titled: float = 1.0
    """The part of the articles that have a title, the most typical ones of each topic."""
    words: int = WORDS
    """The words of a topic."""


_DETAILS = (
    _Detail(snippet=300),
    _Detail(snippet=160),
    _Detail(snippet=80),
    _Detail(),
    _Detail(title=40),
    _Detail(title=40, address=False),
    _Detail(title=40, titled=0.5),
    _Detail(title=40, titled=0.25, address=False),
    _Detail(title=40, titled=0.1, address=False),
    _Detail(title=40, titled=0.02, address=False),
    _Detail(title=40, titled=0.0, address=False, words=3),
    _Detail(title=40, titled=0.0, address=False, words=0),
)
"""The first of these that gives a small enough page is used."""


def map_page(
    heading: str,
    articles: Articles,
    topics: Sequence[Topic],
    areas: Sequence[Area] = (),
    *,
    noun: str = "articles",
    credit: str = "",
    largest: int = LARGEST,
) -> str:
    """The page, of at most ``largest`` bytes: what does not fit is left out, and said.

    ``noun``: what the articles are called. ``credit``: a line about the source and its licence.
    Raises ValueError if shapes, numbers or colours do not fit together.
    """
    _check(articles, topics, areas)
    n = len(articles.places) if articles.of is None else articles.of
    css = style()
    code = script()
    template = Template(asset("map/page.html"))
    name = one_line(heading, 200) or "Map"

    def page(chosen: NDArray[np.int64], detail: _Detail) -> str:
        of_chosen = _columns(articles.topics)[chosen, 0]
        ranks = _ranks(articles, chosen, of_chosen)
        counts = np.bincount(of_chosen[of_chosen != NO_TOPIC], minlength=len(topics))
        packed, left_out = _packed(articles, chosen, ranks, topics, areas, detail, noun)
        if len(chosen) < n:
            left_out.insert(0, f"{len(chosen):,} of {n:,} {noun} are drawn")
        return template.substitute(
            policy=policy([css], [code]),
            style=css,
            script=code,
            heading=escape(name),
            noun=escape(one_line(noun, LONGEST_NAME)),
            count=f"{n:,}",
            left_out=escape("".join(f" {part[:1].upper()}{part[1:]}." for part in left_out)),
            credit=escape(one_line(credit, 400)),
            listed="".join(_listed(topics, areas, counts, detail.words)),
            packed=packed,
        )

    details: Sequence[_Detail] = _DETAILS
    if articles.snippets is None:
        details = [detail for detail in _DETAILS if not detail.snippet]
    chosen = rows_drawn(len(articles.places))
    while True:
        few = chosen[::SAMPLED]
        nothing = len(page(chosen[:0], details[0]))
        for detail in details:
            expected = nothing + SAMPLED * (len(page(few, detail)) - nothing)
            if len(chosen) > FEW and expected > SURELY * largest:
                continue
            html = page(chosen, detail)
            if len(html.encode()) <= largest:
                return html
        if len(chosen) <= FEW:
            return page(chosen, _DETAILS[-1])
        chosen = chosen[::2]


def rows_drawn(n: int) -> NDArray[np.int64]:
    """Those of n articles that are drawn at most, in the order of reading."""
    step = max(1, -(-n // MOST_DOTS))
    return np.arange(0, n, step)


def style() -> str:
    """The style of the page."""
    return asset("map/page.css")


def script() -> str:
    """The script of the page."""
    return "\n".join(asset(f"map/{name}.js") for name in SCRIPTS)


def _check(articles: Articles, topics: Sequence[Topic], areas: Sequence[Area]) -> None:
    n = len(articles.places)
    if articles.places.shape != (n, 2) or articles.places.dtype != np.uint16:
        raise ValueError("places must be uint16 of shape (n, 2)")
    numbers = articles.topics
    if numbers.ndim not in (1, 2) or (numbers.ndim == 2 and numbers.shape[1] == 0):
        raise ValueError("topics must be of shape (n,) or (n, m)")
    for what in ("topics", "titles", "addresses", "snippets", "typical"):
        values = getattr(articles, what)
        if values is not None and len(values) != n:
            raise ValueError(f"{what} must have one entry for each of the {n} places")
    if articles.colouring is not None and len(articles.colouring.of_article) != n:
        raise ValueError(f"colouring must have one entry for each of the {n} places")
    if len(topics) > MOST_TOPICS:
        raise ValueError(f"there must be at most {MOST_TOPICS} topics")
    if len(areas) > MOST_TOPICS:
        raise ValueError(f"there must be at most {MOST_TOPICS} areas")
    if numbers.size and not (numbers.min() >= -1 and numbers.max() < len(topics)):
        raise ValueError(f"topics must be indices of the {len(topics)} topics, or -1")
    for topic in topics:
        if not -1 <= topic.area < len(areas):
            raise ValueError(f"a topic's area must be an index of the {len(areas)} areas, or -1")
    named: list[Topic | Area] = [*topics, *areas]
    for each in named:
        if not _COLOUR.fullmatch(each.colour):
            raise ValueError(f"a colour must look like #0088ff, not {each.colour!r}")
        places = [each.place, *each.others] if isinstance(each, Area) else [each.place]
        if not np.isfinite(places).all():
            raise ValueError("the place of a name must be two finite numbers")


def _columns(topics: NDArray[np.integer]) -> NDArray[np.uint16]:
    """(n, 1 or 2) the topics that are told; `NO_TOPIC` for none."""
    columns = topics.astype(np.int64)
    if columns.ndim == 1:
        columns = columns[:, None]
    columns = columns[:, :TOPICS_TOLD]
    return np.where(columns < 0, NO_TOPIC, columns).astype(np.uint16)


def _ranks(
    articles: Articles, chosen: NDArray[np.int64], largest: NDArray[np.uint16]
) -> NDArray[np.int64]:
    """The rank of each chosen article in its topic, 0 for the most typical one."""
    n = len(chosen)
    typical = np.zeros(n)
    if articles.typical is not None:
        typical = np.nan_to_num(np.asarray(articles.typical, np.float64)[chosen], nan=-np.inf)
    by_topic = np.lexsort((-typical, largest))
    sorted_topics = largest[by_topic]
    first = np.searchsorted(sorted_topics, sorted_topics)
    ranks = np.empty(n, np.int64)
    ranks[by_topic] = np.arange(n) - first
    return ranks


def _packed(
    articles: Articles,
    chosen: NDArray[np.int64],
    ranks: NDArray[np.int64],
    topics: Sequence[Topic],
    areas: Sequence[Area],
    detail: _Detail,
    noun: str,
) -> tuple[str, list[str]]:
    """The data of the page, compressed and in base64; and sentences about what is left out.

    Four bytes tell the length of a JSON text, which tells what follows it: places (all x, then all
    y), levels, topics, labels, and the lines of texts.

    A level is the logarithm of an article's rank in its topic.
    """
    titles, addresses, snippets, left_out = _texts(articles, chosen, ranks, detail)
    colouring = Colouring([], np.empty(0, np.uint8))
    if articles.colouring is not None:
        colouring = articles.colouring.of_rows(chosen)
    columns = _columns(articles.topics)[chosen]
    width = 1 if len(topics) < 255 else 2
    head = {
        "n": len(chosen),
        "noun": one_line(noun, LONGEST_NAME),
        "columns": columns.shape[1],
        "width": width,
        "labels": colouring.keys,
        "topics": [_described(topic, detail.words) for topic in topics],
        "areas": [
            {
                "name": one_line(area.name, LONGEST_NAME),
                "colour": area.colour,
                "place": _place(area.place),
                "others": [_place(place) for place in area.others],
            }
            for area in areas
        ],
        "texts": [len(titles) > 0, len(addresses) > 0, len(snippets) > 0],
    }
    start = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    levels = np.log2(ranks + 1).astype(np.uint8)
    stored = np.uint8 if width == 1 else np.dtype("<u2")
    parts = [
        len(start).to_bytes(4, "little"),
        start,
        articles.places[chosen].T.astype("<u2").tobytes(),
        levels.tobytes(),
        columns.T.astype(stored).tobytes(),
        colouring.of_article.tobytes(),
        "\n".join(titles + addresses + snippets).encode(),
    ]
    compressed = zlib.compress(b"".join(parts), 9)
    return base64.b64encode(compressed).decode(), left_out


def _texts(
    articles: Articles, chosen: NDArray[np.int64], ranks: NDArray[np.int64], detail: _Detail
) -> tuple[list[str], list[str], list[str], list[str]]:
    """The titles of the chosen articles, empty where there is no room for one; their addresses and
    their snippets, none if all are left out; and sentences about what is left out."""
    n = len(chosen)
    left_out = []
    if detail.titled < 1 and n:
        has_title = ranks < np.sort(ranks)[int(detail.titled * n)]
        told = int(has_title.sum())
        left_out.append(f"{told:,} of them, the most typical of each topic, have titles here")
    else:
        has_title = np.ones(n, np.bool_)
    titles = []
    for i, number in enumerate(chosen.tolist()):
        titles.append(one_line(articles.titles[number], detail.title) if has_title[i] else "")
    addresses: list[str] = []
    if articles.addresses is not None:
        if detail.address:
            for i, number in enumerate(chosen.tolist()):
                address = articles.addresses[number] if has_title[i] else None
                addresses.append(_short(address, articles.titles[number], titles[i]))
        else:
            left_out.append("their addresses are left out")
    snippets: list[str] = []
    if articles.snippets is not None:
        if detail.snippet:
            for number in chosen.tolist():
                snippet = snippet_shown(articles.snippets[number])
                snippets.append(one_line(snippet, detail.snippet))
        else:
            left_out.append("the beginnings of their texts are left out")
    return titles, addresses, snippets, left_out


def coloured(
    labels: Sequence[str], label_of: NDArray[np.integer], *, is_scale: bool = False
) -> Colouring:
    """The colours of labels: of the parts of a scale in their order, from one end of its colours to
    the other, otherwise the most frequent first. As many labels have one as there are colours; all
    others are one label.

    labels: those of the same frequency keep this order
    label_of: (n,) the index of each article's label; -1 for none
    """
    texts = [one_line(label, LONGEST_NAME) for label in labels]
    counts = np.bincount(label_of + 1, minlength=len(labels) + 1).tolist()
    n_without, *n_with = counts
    frequency: Counter[str] = Counter()
    for text, n in zip(texts, n_with, strict=True):
        if n:
            frequency[text] += n
    if n_without:
        frequency[""] += n_without
    in_order = [text for text, _ in frequency.most_common() if text]
    colours: Sequence[str] = COLOURS[:-1]
    if is_scale:
        in_order = texts
        spread = np.linspace(0, len(SCALE) - 1, len(texts)).round().astype(int)
        colours = [SCALE[part] for part in spread.tolist()]
    shown = in_order[: len(colours)]
    number_of = {text: number for number, text in enumerate(shown)}
    keys = [{"name": text, "colour": colour} for text, colour in zip(shown, colours, strict=False)]
    others = set(frequency).difference(shown)
    if others:
        keys.append({"name": "none" if others == {""} else "others", "colour": OTHER_COLOUR})
    # The index -1 chooses the last number, that of all others.
    numbers = [number_of.get(text, len(shown)) for text in (*texts, "")]
    return Colouring(keys, np.array(numbers, np.uint8)[label_of])


def _described(topic: Topic, words: int) -> dict[str, object]:
    return {
        "name": one_line(topic.name, LONGEST_NAME),
        "words": [one_line(word, 40) for word in topic.words[:words]],
        "area": topic.area,
        "colour": topic.colour,
        "place": _place(topic.place),
    }


def _place(place: tuple[float, float]) -> list[float]:
    x, y = place
    return [round(min(max(x, 0.0), 1.0), 4), round(min(max(y, 0.0), 1.0), 4)]


def one_line(text: str, most: int) -> str:
    """One line of at most so many characters, with control characters and surrogates made
    visible."""
    line = visible(" ".join(text[: 8 * most].split()))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _short(address: str | None, title: str, shown: str) -> str:
    """The address as it is stored: empty if it is none; with a mark where it repeats the title."""
    if not address or len(address) > LONGEST_ADDRESS or not _ADDRESS.fullmatch(address):
        return ""
    if shown == title and title:
        encoded = quote(title.replace(" ", "_").encode("utf-8", "replace"), safe="")
        return address.replace(encoded, _ITS_TITLE, 1)
    return address


def _listed(
    topics: Sequence[Topic], areas: Sequence[Area], counts: NDArray[np.int64], most: int
) -> Iterator[str]:
    """The topics as a list, by area, for those who cannot see the map."""
    members: dict[int, list[int]] = {}
    for number, topic in enumerate(topics):
        members.setdefault(topic.area, []).append(number)
    for area in sorted(members, key=lambda area: (area < 0, area)):
        name = one_line(areas[area].name, LONGEST_NAME) if area >= 0 else ""
        if areas:
            yield f"<h3>{escape(name) or 'Other topics'}</h3>"
        yield "<ul>"
        for number in members[area]:
            topic = topics[number]
            words = " · ".join(one_line(word, 40) for word in topic.words[:most])
            yield (
                f'<li data-topic="{number}"><b>{escape(one_line(topic.name, LONGEST_NAME))}</b> '
                f"<span>{counts[number]:,}</span> <small>{escape(words)}</small></li>"
            )
        yield "</ul>"
