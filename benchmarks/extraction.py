"""Do wikitext and rendered page of the same article give the same words, and how fast?

    python benchmarks/extraction.py [API_URL] [--worst N]

API_URL: a MediaWiki whose articles are fetched both ways (``…/w/api.php``, pages under ``/wiki/``). Without
it, only the speed on the shared corpus is measured. CPU seconds of this process.
"""

import argparse
import json
import lzma
import os
import tarfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from crawler import extract_html, extract_wikitext
from vocab import Vocabulary

SHARED = Path(os.environ.get("WIKITOPICS_SHARED", Path(__file__).parents[1] / ".." / "shared"))


def articles(api_url: str) -> Iterator[tuple[str, str]]:
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
    base = api_url.removesuffix("/w/api.php")
    result = []
    for title, wikitext in articles(api_url):
        page = _get(f"{base}/wiki/{urllib.parse.quote(title.replace(' ', '_'))}")
        one, other = extract_wikitext(wikitext), extract_html(page)
        result.append((cosine(vocabulary, one, other), title, one, other))
    return sorted(result)


def speed(name: str, function: Callable[[str], object], texts: list[str], unit: int) -> None:
    size = sum(map(len, texts))
    begin = time.process_time()
    for text in texts:
        function(text)
    spent = time.process_time() - begin
    print(f"{name}: {spent / size * unit * 1000:.2f} ms for {unit // 1000} kB, {size / spent / 1e6:.1f} MB/s")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("api_url", nargs="?")
    arguments.add_argument("--worst", type=int, default=5, help="name the N articles that are least alike")
    options = arguments.parse_args()
    vocabulary = Vocabulary.load("english")
    if options.api_url:
        result = compare(options.api_url, vocabulary)
        values = np.array([value for value, *_ in result])
        low, tenth, median = np.quantile(values, [0, 0.1, 0.5])
        print(f"{len(result)} articles: cosine median {median:.4f}, 10 % {tenth:.4f}, least {low:.4f}")
        for value, title, one, other in result[: options.worst]:
            print(f"  {value:.4f} {title}: {len(one)} characters from wikitext, {len(other)} from HTML")
    corpus = SHARED / "corpus"
    if corpus.is_dir():
        with lzma.open(corpus / "wikitext" / "articles-400.jsonl.xz", "rt", encoding="utf-8") as file:
            wikitext = [json.loads(line)["text"] for line in file]
        with tarfile.open(corpus / "html" / "pages.tar.xz") as archive:
            members = [archive.extractfile(member) for member in archive if member.isfile()]
            pages = [member.read().decode("utf-8", "replace") for member in members if member is not None]
        extract_html(pages[0])
        speed("extract_wikitext", extract_wikitext, wikitext, 8_000)
        speed(
            "extract_wikitext and count",
            lambda text: vocabulary.count(extract_wikitext(text)),
            wikitext,
            8_000,
        )
        speed("count, on prose", vocabulary.count, [extract_wikitext(text) for text in wikitext], 8_000)
        speed("extract_html", extract_html, pages, 130_000)


if __name__ == "__main__":
    main()
