"""Facts about the languages of wikis."""

from wikitopics.crawler.errors import BadSource

UNSPACED = {
    "zh": "Chinese",
    "lzh": "Classical Chinese",
    "yue": "Cantonese",
    "wuu": "Wu Chinese",
    "gan": "Gan Chinese",
    "ja": "Japanese",
    "th": "Thai",
    "lo": "Lao",
    "km": "Khmer",
    "my": "Burmese",
    "mnw": "Mon",
    "shn": "Shan",
    "blk": "Pa'O",
    "bo": "Tibetan",
    "dz": "Dzongkha",
}
"""Languages written without spaces between words, by code."""
_OTHER_CODES = {"zh-yue": "yue", "zh-classical": "lzh", "simple": "en"}


def language_of(code: str) -> str:
    """The language of the Wikipedia with this code, e.g. "en" for "simple"."""
    name = code.strip().lower()
    return _OTHER_CODES.get(name, name)


def check_spaced(language: str) -> None:
    """Raise `BadSource` for a language that does not separate words by spaces."""
    # Min Nan and some others at zh-… use Latin letters.
    name = UNSPACED.get(language if language.startswith("zh-min") else language.partition("-")[0])
    if name is not None:
        raise BadSource(
            f"--lang {language}: {name} is written without spaces between words, and wikitopics cannot "
            "separate its words: train on the links of its articles with --tokens links, or count words "
            "yourself and use --source counts"
        )
