"""Word counts written out as an article: the same prose as wikitext and as HTML.

The prose contains the article's words exactly as often as its counts say; the words between them are not in
the corpus. Words outside the prose (references, infobox, table, captions, links to categories) must be left
out by an extractor.
"""

import html
import random
from collections.abc import Sequence
from urllib.parse import quote

from wikitopics.crawler.embedded.corpus import Article, Articles, Corpus

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
