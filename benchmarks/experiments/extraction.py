"""Do wikitext and rendered page of the same article give the same words?

The articles of a MediaWiki are fetched both ways; WIKITOPICS_TEST_API is its address (`…/w/api.php`, pages
under `/wiki/`).
"""

import json
import os
import urllib.parse
import urllib.request
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Experiment, Figures, Unavailable
from wikitopics.crawler import extract_html, extract_wikitext
from wikitopics.vocab import Vocabulary

EXPERIMENT = Experiment("extraction", "wikitext and rendered pages to words: whether they agree")
WORST = 5
"""How many of the least similar articles are named."""


def fetched(api_url: str) -> Iterator[tuple[str, str]]:
    """Title and wikitext of every article of the wiki that is no redirect."""
    query = {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "allpages",
        "gaplimit": "50",
        "gapfilterredir": "nonredirects",
        "prop": "revisions",
        "rvprop": "content",
        "rvslots": "main",
    }
    more: dict[str, str] = {}
    while True:
        reply = json.loads(_get(f"{api_url}?{urllib.parse.urlencode(query | more)}"))
        for page in reply.get("query", {}).get("pages", []):
            if page.get("revisions"):
                yield page["title"], page["revisions"][0]["slots"]["main"]["content"]
        if "continue" not in reply:
            return
        more = reply["continue"]


def rendered(api_url: str, title: str) -> bytes:
    """The page of an article."""
    base = api_url.removesuffix("/w/api.php")
    return _get(f"{base}/wiki/{urllib.parse.quote(title.replace(' ', '_'))}")


def _get(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "wikitopics-benchmark"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return bytes(reply.read())


def cosine(vocabulary: Vocabulary, one: str, other: str) -> float:
    """Cosine between the word counts of two texts; 1 if neither has a known word."""
    a, b = (np.zeros(len(vocabulary)) for _ in range(2))
    for vector, text in ((a, one), (b, other)):
        ids, counts = vocabulary.count(text)
        vector[ids] = counts
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norm) if norm else float(not a.any() and not b.any())


def compare(api_url: str, vocabulary: Vocabulary) -> list[tuple[float, str, str, str]]:
    """(cosine, title, text from wikitext, text from HTML) of every article, the least alike first."""
    result = []
    for title, wikitext in fetched(api_url):
        one, other = extract_wikitext(wikitext), extract_html(rendered(api_url, title))
        result.append((cosine(vocabulary, one, other), title, one, other))
    return sorted(result)


@EXPERIMENT.point(minutes=2)
def agreement() -> Figures:
    api_url = os.environ.get("WIKITOPICS_TEST_API")
    if not api_url:
        raise Unavailable("WIKITOPICS_TEST_API names no MediaWiki")
    result = compare(api_url, Vocabulary.load("english"))
    for value, title, one, other in result[:WORST]:
        print(f"  {value:.4f} {title}: {len(one)} characters from wikitext, {len(other)} from HTML")
    least, tenth, median = np.quantile([value for value, *_ in result], [0, 0.1, 0.5]).tolist()
    return {"articles": len(result), "median_cosine": median, "tenth_cosine": tenth, "least_cosine": least}
