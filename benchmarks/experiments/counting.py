"""Counting words: how fast, in several alphabets, and whether they are those of the rules."""

import html
import lzma
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice

from benchmarks import data
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import in_turn, timed
from wikitopics.crawler.markup.texts import prose
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.counting import separated, words_of
from wikitopics.vocab.rules import Rule

EXPERIMENT = Experiment(
    "counting",
    "megabytes of text whose words are counted in a second, in several alphabets",
    data="articles-60k, and the beginnings of dumps in other languages",
)
ARTICLES = 60_000
TEXTS = 4_000
"""Those that are timed."""
TOGETHER = 50
WORDS = 8_000
STOP_WORDS = 200
"""The most frequent words, which are not in the vocabulary."""
REPEATS = 5
LANGUAGES = {"uk": "Ukrainian", "el": "Greek", "bn": "Bengali", "mr": "Marathi"}
RULES = {"1": "1", "2 en": "2", "2 en digits": "2, with digits"}


def english() -> list[str]:
    return [article["text"] for article in islice(data.articles(), ARTICLES)]


def in_language(code: str) -> list[str]:
    """The prose of the pages with which its dump begins."""
    path = data.shared(f"languages/{code}wiki-truncated-100k.xml.xz")
    with lzma.open(path, "rt", encoding="utf-8", errors="replace") as file:
        pages = re.findall("<text[^>]*>([^<]*)", file.read())
    info = SourceInfo(code, None, language=code)
    texts = []
    for page in pages:
        wikitext = html.unescape(page)
        if not wikitext.startswith("#"):  # a redirect
            texts.append(prose(Page(1, "", 1, wikitext, "wikitext"), info))
    return texts


def figures(rule: Rule, texts: Sequence[str]) -> Figures:
    """Megabytes of UTF-8 a CPU second, and how many of all texts have other words than by
    `Rule.words`."""
    some = texts[:TEXTS]
    groups = [some[start : start + TOGETHER] for start in range(0, len(some), TOGETHER)]
    frequency = Counter(word.decode() for text in some for word in rule.words(text))
    frequent = [word for word, _ in frequency.most_common(STOP_WORDS + WORDS)]
    vocabulary = Vocabulary.from_words(frequent[STOP_WORDS:], rule)
    for group in groups:  # compiles, and fills the tables of characters
        list(vocabulary.count_all(group))

    def counted() -> float:
        return timed(lambda: [list(vocabulary.count_all(group)) for group in groups])[0]

    def only_separated() -> float:
        return timed(lambda: [separated(rule, group) for group in groups])[0]

    def by_the_rule() -> float:
        return timed(lambda: [rule.words(text) for text in some])[0]

    megabytes = sum(len(text.encode()) for text in some) / 1e6
    seconds = in_turn(REPEATS, counted, only_separated, by_the_rule)
    rates = [megabytes / each for each in seconds]
    different = 0
    for text, words in zip(texts, words_of(rule, texts), strict=True):
        different += words != rule.words(text)
    return {
        "counted": rates[0],
        "separated": rates[1],
        "rule_alone": rates[2],
        "texts": len(texts),
        "different": different,
    }


def of_english(rule: str) -> Figures:
    return figures(Rule.parse(rule), english())


def of_language(code: str) -> Figures:
    return figures(Rule.of_language(code), in_language(code))


for _rule in RULES:
    EXPERIMENT.add("english_" + _rule.replace(" ", "_"), partial(of_english, _rule))
for _code in LANGUAGES:
    EXPERIMENT.add(_code, partial(of_language, _code))


def rates(points: Points) -> str:
    """Megabytes a second on one core."""
    labels = {
        "english_" + rule.replace(" ", "_"): f"English, rule {label}"
        for rule, label in RULES.items()
    }
    labels |= LANGUAGES
    rows = []
    for name, label in labels.items():
        point = points[name]
        different = f"{point['different']:,} of {point['texts']:,}"
        rows.append((label, f"{point['counted']:.0f}", f"{point['rule_alone']:.0f}", different))
    return table(
        ("", "counted, MB/s", "words by the rule, one text at a time", "texts with other words"),
        rows,
    )


EXPERIMENT.tables["rates"] = rates
