"""The articles of the embedded wiki as word counts, in any number, none of them kept in memory."""

import html
import json
import lzma
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

# The page around an article, with the layout of today's Wikipedia.

# ruff: noqa: E501 (markup)


_MENU = ("Main page", "Contents", "Random article", "Help", "Recent changes")
_LANGUAGES = (("de", "Deutsch"), ("fr", "Français"), ("ja", "日本語"), ("pl", "Polski"))


def render_page(title: str, page_id: int, revision_id: int, content: str) -> str:
    """The whole HTML page of one article; ``content`` goes inside ``.mw-parser-output``."""
    name, address = html.escape(title), quote(title.replace(" ", "_"), safe="/:")
    menu = "".join(
        f'<li class="mw-list-item"><a href="/wiki/Portal"><span>{item}</span></a></li>' for item in _MENU
    )
    languages = "".join(
        f'<li class="interlanguage-link interwiki-{code} mw-list-item"><a href="https://{code}.sample.invalid/" '
        f'lang="{code}"><span>{label}</span></a></li>'
        for code, label in _LANGUAGES
    )
    return f"""<!DOCTYPE html>
<html class="client-nojs vector-feature-language-in-header-enabled skin-theme-clientpref-day" lang="en" dir="ltr">
<head>
<meta charset="UTF-8">
<title>{name} - Embedded sample</title>
<script>(function(){{document.documentElement.className="client-js";}}());RLCONF={{"wgArticleId":{page_id},\
"wgRevisionId":{revision_id},"wgNamespaceNumber":0,"wgIsArticle":true}};</script>
<link rel="stylesheet" href="/w/load.php?lang=en&amp;modules=site.styles&amp;only=styles&amp;skin=vector-2022">
<meta name="generator" content="MediaWiki 1.39.17">
<link rel="canonical" href="/wiki/{address}">
</head>
<body class="skin--responsive skin-vector skin-vector-search-vue mediawiki ltr ns-0 ns-subject action-view">
<a class="mw-jump-link" href="#bodyContent">Jump to content</a>
<div class="vector-header-container"><header class="vector-header mw-header no-font-mode-scale">
<div class="vector-main-menu-landmark"><nav aria-label="Site"><div class="vector-menu-heading">Navigation</div>
<ul class="vector-menu-content-list">{menu}</ul></nav></div>
<div class="vector-search-box"><form action="/w/index.php"><input type="search" name="search" \
placeholder="Search the sample"></form></div></header></div>
<div class="mw-page-container"><div class="mw-page-container-inner">
<div class="vector-column-start"><nav id="mw-panel-toc" aria-label="Contents"><div class="vector-toc">
<h2 class="vector-pinnable-header-label">Contents</h2><ul class="vector-toc-contents"><li><a href="#">(Top)</a></li>
</ul></div></nav></div>
<div class="mw-content-container"><main id="content" class="mw-body">
<header class="mw-body-header vector-page-titlebar"><h1 id="firstHeading" class="firstHeading mw-first-heading">\
<span class="mw-page-title-main">{name}</span></h1>
<div id="p-lang-btn" class="vector-dropdown mw-portlet mw-portlet-lang"><ul>{languages}</ul></div></header>
<div class="vector-page-toolbar"><nav aria-label="Namespaces"><ul><li id="ca-nstab-main"><a href="/wiki/{address}">\
<span>Article</span></a></li><li id="ca-talk"><a href="/wiki/Talk:{address}"><span>Talk</span></a></li></ul></nav></div>
<div id="bodyContent" class="vector-body"><div id="siteSub" class="noprint">From the embedded sample</div>
<div id="contentSub"><div id="mw-content-subtitle"></div></div>
<div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
{content}</div>
<div class="printfooter" data-nosnippet="">Retrieved from "<a href="/wiki/{address}">{name}</a>"</div></div>
<div id="catlinks" class="catlinks"><div id="mw-normal-catlinks"><a href="/wiki/Special:Categories">Categories</a>: \
<ul><li><a href="/wiki/Category:Embedded_sample">Embedded sample</a></li></ul></div></div>
</div></main></div>
<footer id="footer" class="mw-footer"><ul id="footer-info"><li id="footer-info-lastmod">This page was last edited \
on 3 May 2024.</li><li id="footer-info-copyright">Text is available under the Creative Commons licence.</li></ul>
</footer></div></div></body></html>
"""


_COPY = re.compile(r"(.+) \(copy (\d{1,12})\)", re.DOTALL)
MOST_SPARED = 1000


@dataclass(frozen=True)
class Corpus:
    """Word counts of D articles over W words, in compressed rows."""

    titles: Sequence[str]
    """(D,), all different."""
    words: Sequence[str]
    """(W,)"""
    indptr: NDArray[np.int64]
    """(D + 1,): article d has the entries ``indptr[d]`` to ``indptr[d + 1]``."""
    word_ids: NDArray[np.int32]
    """(N,), ascending within each article."""
    counts: NDArray[np.int32]
    """(N,)"""


@dataclass(frozen=True)
class Article:
    """One article before it is written out: every occurrence of every word, in shuffled order."""

    index: int
    title: str
    word_ids: NDArray[np.int64]


class Articles:
    """``size`` articles: the corpus in its order, then articles resampled from all but its first tenth
    (its first 1,000 at most).

    Every article is generated from ``seed`` and its index whenever it is needed, always the same.
    ``words_each``: draw this many words from each article's distribution instead of using its own counts.
    """

    def __init__(self, corpus: Corpus, size: int, seed: int = 0, words_each: int | None = None) -> None:
        if size < 0 or (size > 0 and not len(corpus.titles)):
            raise ValueError("size must not be negative, and must be 0 without a corpus")
        self.corpus = corpus
        self.size = size
        self._seed = seed
        self._words_each = words_each
        # A trainer holds the first articles out and must not be given copies of them later.
        self._spared = min(MOST_SPARED, len(corpus.titles) // 10)
        self._index = {title: i for i, title in enumerate(corpus.titles)}

    def title(self, index: int) -> str:
        """The title of article ``index``, 0 to size - 1."""
        base, lap = self._place(index)
        return self.corpus.titles[base] + (f" (copy {lap})" if lap else "")

    def find(self, title: str) -> int | None:
        """The index of the article with that title."""
        found = self._index.get(title)
        if (
            found is None
            and (copy := _COPY.fullmatch(title))
            and (base := self._index.get(copy[1])) is not None
        ):
            found = self._copy(base, int(copy[2]))
        return found if found is not None and found < self.size else None

    def article(self, index: int) -> Article:
        """Article ``index`` with its words in the order in which they are written."""
        corpus, (base, _) = self.corpus, self._place(index)
        rng = np.random.default_rng((self._seed, index))
        span = slice(corpus.indptr[base], corpus.indptr[base + 1])
        ids, counts = corpus.word_ids[span], corpus.counts[span]
        total = int(counts.sum())
        if self._words_each is not None or index >= len(corpus.titles):
            drawn = rng.random(self._words_each if self._words_each is not None else total) * total
            words = ids[np.searchsorted(np.cumsum(counts), drawn, side="right")] if total else ids[:0]
        else:
            words = rng.permutation(np.repeat(ids, counts))
        return Article(index, self.title(index), words.astype(np.int64))

    def _place(self, index: int) -> tuple[int, int]:
        """(article of the corpus, lap): lap 0 is the corpus itself; later laps leave out its beginning."""
        n = len(self.corpus.titles)
        if index < n:
            return index, 0
        lap, place = divmod(index - n, n - self._spared)
        return self._spared + place, lap + 1

    def _copy(self, base: int, lap: int) -> int | None:
        """The inverse of `_place` for laps from 1; None for an article that has no copies."""
        n = len(self.corpus.titles)
        if lap < 1 or base < self._spared:
            return None
        return n + (lap - 1) * (n - self._spared) + base - self._spared


# The shipped sample: titles and word counts of 20,000 real articles.
#
# Layout of ``crawler/data/sample.xz``, decompressed, little-endian:
#
# =============  ======================  ==================================================================
# column         type                    meaning
# =============  ======================  ==================================================================
# sizes          3 uint32                bytes of ``text``, articles D, entries N
# text           UTF-8 JSON              ``words``, most widespread first; ``titles``, in stored order
# places         D uint16                where article 0, 1, … of the sample is stored
# lengths        D uint8                 distinct words of each stored article
# gap low, high  N uint8, N uint8        word id minus the one before it in its article, minus 1
# counts         N uint8                 occurrences minus 1
# =============  ======================  ==================================================================

SAMPLE_ARTICLES = 20_000
"""D of the shipped sample."""


def load_sample() -> Corpus:
    """Read the sample, which takes about 0.2 seconds and 20 MB of memory.

    Its words are all in the shipped English vocabulary; counts above 255 are clipped.
    """
    packed = (resources.files("wikitopics.crawler") / "data" / "sample.xz").read_bytes()
    data = lzma.decompress(packed)
    text_bytes, n_articles, n_entries = np.frombuffer(data, dtype="<u4", count=3).tolist()
    text = json.loads(data[12 : 12 + text_bytes])
    offset = 12 + text_bytes

    def column(count: int, dtype: str) -> NDArray[np.int64]:
        nonlocal offset
        values = np.frombuffer(data, dtype=dtype, count=count, offset=offset)
        offset += values.nbytes
        return values.astype(np.int64)

    places = column(n_articles, "<u2")
    stored_lengths = column(n_articles, "u1")
    gaps = column(n_entries, "u1") + 256 * column(n_entries, "u1")
    counts = column(n_entries, "u1") + 1

    # Ids are the running sum of the gaps, restarted with each article.
    running = np.cumsum(gaps + 1)
    ends = np.cumsum(stored_lengths)
    begins = ends - stored_lengths
    before = np.where(begins > 0, running[begins - 1], 0)
    ids = running - np.repeat(before, stored_lengths) - 1

    lengths = stored_lengths[places]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.repeat(begins[places] - indptr[:-1], lengths) + np.arange(n_entries)
    titles = text["titles"]
    return Corpus(
        titles=tuple(titles[place] for place in places.tolist()),
        words=tuple(text["words"]),
        indptr=indptr,
        word_ids=ids[entries].astype(np.int32),
        counts=counts[entries].astype(np.int32),
    )


# Word counts written out as an article: the same prose as wikitext and as HTML.
#
# The prose contains the article's words exactly as often as its counts say; the words between them are not in
# the corpus. Words outside the prose (references, infobox, table, captions, links to categories) must be left
# out by an extractor.

_PATTERN = 389
_FILLERS = tuple("the of and in to was is for on as with by at from its it an or that were".split())  # noqa: SIM905
_HEADINGS = ("About", "Before and after", "Then and now", "Where and when", "Which and why", "From here on")
_REFERENCES = (
    ("A Reader of Archives", "Annals", "1987"),
    ("Proceedings", "Quarterly Letters", "2004"),
    ("Notes from a Journey", "Morning Post", "1931"),
)


class Writer:
    """Writes articles of a corpus whose words are ``words``.

    A fixed pattern of markup before and after each word is laid over the shuffled words, with a different
    start for each article.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._capital = [w[0].upper() + w[1:] if w.isascii() else w for w in words]
        known = set(words)
        fillers = [w for w in _FILLERS if w not in known] or [""]
        headings = [h for h in _HEADINGS if not known & set(h.lower().split())]
        rng = random.Random(389)
        wiki: list[tuple[str, str]] = []
        page: list[tuple[str, str]] = []
        self._starts_sentence: list[bool] = []
        new_sentence, left = True, rng.randint(60, 100)
        for position in range(_PATTERN):
            self._starts_sentence.append(new_sentence)
            before = rng.choice(fillers) + " " if not new_sentence and rng.random() < 0.4 else ""
            (wiki_open, wiki_close), (page_open, page_close) = _dress(rng)
            left -= 1
            if left <= 0:
                heading = rng.choice(headings) if headings and rng.random() < 0.4 else None
                wiki_end, page_end = _paragraph_end(heading)
                new_sentence, left = True, rng.randint(60, 100)
            else:
                new_sentence = rng.random() < 0.08
                end = ". " if new_sentence else ", " if rng.random() < 0.08 else " "
                wiki_end = page_end = end
            if rng.random() < 0.02:
                author, work, year = rng.choice(_REFERENCES)
                wiki_end = _wiki_reference(author, work, year, position) + wiki_end
                page_end = _page_reference(position) + page_end
            wiki.append((before + wiki_open, wiki_close + wiki_end))
            page.append((before + page_open, page_close + page_end))
        # Doubled, so that a pattern beginning anywhere is one slice.
        self._wiki = _doubled(wiki)
        self._page = _doubled(page)
        self._starts_sentence *= 2

    def wikitext(self, article: Article) -> str:
        """The article as its authors see it in the editor."""
        head, foot = _wiki_head(article.title, article.index), _wiki_foot(article.title)
        return f"{head}{self._prose(article, self._wiki)}{foot}"

    def html(self, article: Article) -> str:
        """The contents of ``.mw-parser-output`` on the rendered page."""
        title = html.escape(article.title)
        return f"{_page_head(title)}<p>{self._prose(article, self._page)}</p>\n{_page_foot(title)}"

    def _prose(self, article: Article, dress: tuple[list[str], list[str]]) -> str:
        begin = article.index * 31 % _PATTERN
        ids = article.word_ids.tolist()
        words, capital = self._words, self._capital
        parts: list[str] = []
        for at in range(0, len(ids), _PATTERN):
            piece = ids[at : at + _PATTERN]
            span = slice(begin, begin + len(piece))
            parts += [
                f"{before}{capital[word] if starts else words[word]}{behind}"
                for word, before, behind, starts in zip(
                    piece, dress[0][span], dress[1][span], self._starts_sentence[span], strict=True
                )
            ]
        return "".join(parts)


def _doubled(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [a for a, _ in pairs] * 2, [b for _, b in pairs] * 2


def _dress(rng: random.Random) -> tuple[tuple[str, str], tuple[str, str]]:
    """The markup around one word, as wikitext and as HTML."""
    kind = rng.random()
    if kind < 0.07:
        return ("[[", "]]"), ('<a href="/wiki/Portal" title="Portal">', "</a>")
    if kind < 0.11:
        return ("[[Portal (hub)|", "]]"), ('<a href="/wiki/Portal_(hub)" class="mw-redirect">', "</a>")
    if kind < 0.13:
        return ("''", "''"), ("<i>", "</i>")
    if kind < 0.135:
        return ("{{lang|fr|", "}}"), ('<i lang="fr">', "</i>")
    return ("", ""), ("", "")


def _paragraph_end(heading: str | None) -> tuple[str, str]:
    if heading is None:
        return ".\n\n", ".</p>\n<p>"
    anchor = heading.replace(" ", "_")
    edit = (
        '<span class="mw-editsection"><span class="mw-editsection-bracket">[</span>'
        f'<a href="/w/index.php?action=edit" title="Edit section: {heading}"><span>edit</span></a>'
        '<span class="mw-editsection-bracket">]</span></span>'
    )
    page = f'.</p>\n<div class="mw-heading mw-heading2"><h2 id="{anchor}">{heading}</h2>{edit}</div>\n<p>'
    return f".\n\n== {heading} ==\n\n", page


def _wiki_reference(author: str, work: str, year: str, number: int) -> str:
    return f"<ref>{{{{cite journal |author={author} |journal={work} |year={year} |page={number}}}}}</ref>"


def _page_reference(number: int) -> str:
    return (
        f'<sup id="cite_ref-{number}" class="reference"><a href="#cite_note-{number}">'
        f'<span class="cite-bracket">&#91;</span>{number}<span class="cite-bracket">&#93;</span></a></sup>'
    )


def _wiki_head(title: str, index: int) -> str:
    return (
        "{{Short description|Entry of the embedded sample}}\n{{Use dmy dates|date=May 2024}}\n"
        f"{{{{Infobox subject\n| name = {title}\n| image = Sample {index}.jpg\n| caption = A view\n"
        "| established = {{start date|1901|2|3}}\n| website = {{URL|sample.invalid}}\n}}\n"
        f"[[File:Sample {index}.jpg|thumb|upright=1.2|A view from the [[north]]]]\n"
        "<!-- the lead -->\n"
    )


def _wiki_foot(title: str) -> str:
    return (
        '\n\n{| class="wikitable sortable"\n|+ Figures\n! Year !! Number\n|-\n| 1901 || {{nts|12345}}\n'
        "|-\n| 1951 || {{nts|23456}}\n|}\n\n== See also ==\n* [[Portal (hub)]]\n* [[List of portals]]\n\n"
        "== References ==\n{{Reflist|30em}}\n\n== External links ==\n"
        "* [https://sample.invalid/ Official website]\n"
        f"\n{{{{Navbox portals}}}}\n{{{{DEFAULTSORT:{title}}}}}\n[[Category:Embedded sample]]\n"
        "[[Category:Portals established in 1901]]\n"
    )


def _page_head(title: str) -> str:
    return (
        '<div class="shortdescription nomobile noexcerpt noprint searchaux" style="display:none">'
        "Entry of the embedded sample</div>\n"
        '<div role="note" class="hatnote navigation-not-searchable">For other uses, see '
        '<a href="/wiki/Portal">Portal</a>.</div>\n'
        '<style data-mw-deduplicate="x">.mw-parser-output .infobox{border:1px solid #a2a9b1}</style>'
        f'<table class="infobox vcard"><tbody><tr><th colspan="2" class="infobox-above fn">{title}</th></tr>'
        '<tr><td colspan="2" class="infobox-image"><img alt="A view" src="/static/sample.jpg" />'
        '<div class="infobox-caption">A view</div></td></tr><tr><th scope="row" class="infobox-label">'
        'Established</th><td class="infobox-data">3 February 1901</td></tr></tbody></table>\n'
        '<figure class="mw-default-size" typeof="mw:File/Thumb"><a href="/wiki/File:Sample.jpg">'
        '<img src="/static/sample.jpg" /></a><figcaption>A view from the north</figcaption></figure>\n'
    )


def _page_foot(title: str) -> str:
    notes = "".join(
        f'<li id="cite_note-{n}"><span class="mw-cite-backlink"><b><a href="#cite_ref-{n}">^</a></b></span> '
        f'<span class="reference-text"><cite class="citation">{a} ({y}). <i>{w}</i>.</cite></span></li>'
        for n, (a, w, y) in enumerate(_REFERENCES)
    )
    return (
        '<table class="wikitable sortable"><caption>Figures</caption><tbody>'
        "<tr><th>Year</th><th>Number</th></tr>"
        "<tr><td>1901</td><td>12,345</td></tr><tr><td>1951</td><td>23,456</td></tr></tbody></table>\n"
        '<div class="mw-heading mw-heading2"><h2 id="See_also">See also</h2></div>\n'
        '<ul><li><a href="/wiki/Portal_(hub)">Portal (hub)</a></li></ul>\n'
        '<div class="mw-heading mw-heading2"><h2 id="References">References</h2></div>\n'
        f'<div class="reflist"><ol class="references">{notes}</ol></div>\n'
        '<div class="mw-heading mw-heading2"><h2 id="External_links">External links</h2></div>\n'
        '<ul><li><a rel="nofollow" class="external text" href="https://sample.invalid/">Official website</a>'
        '</li></ul>\n<div class="navbox-styles"></div><div role="navigation" class="navbox" '
        f'aria-labelledby="nav"><table><tbody><tr><th id="nav">Portals beside {title}</th>'
        "</tr></tbody></table></div>\n"
    )


def words_for_bytes(corpus: Corpus, wanted: int) -> int:
    """The number of words with which articles of this corpus have about ``wanted`` bytes of wikitext."""
    writer, few, many = Writer(corpus.words), 200, 1200

    def mean_bytes(words_each: int) -> float:
        articles = Articles(corpus, 20, 0, words_each)
        return sum(len(writer.wikitext(articles.article(i)).encode()) for i in range(20)) / 20

    beside = mean_bytes(few)
    a_word = (mean_bytes(many) - beside) / (many - few)
    return max(1, round(few + (wanted - beside) / a_word))


def page_address(title: str) -> str:
    """The path of a title's rendered page."""
    return "/wiki/" + quote(title.replace(" ", "_"), safe="/:(),!*;@$~.-_'")
