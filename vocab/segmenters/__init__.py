"""The words of languages written without spaces between them, separated by other packages'
dictionaries.

One module a language, imported when its first text comes: ``words(text)`` gives the words of a text
worth counting, in order. The rest is here: what a language needs, which version of it is installed,
and texts cut into pieces, since every package has a length beyond which it refuses a text or
becomes slow.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata
from typing import Final

from wikitopics.installing import install_command
from wikitopics.visible import visible

PACKAGES: Final = {
    "ja": ("sudachipy", "sudachidict_core"),
    "zh": ("rjieba", "opencc"),
    "th": ("nlpo3", "pythainlp"),
}
"""The packages of a language: what separates its words, and the dictionary, or what else it needs.
The rule of a vocabulary names their versions, in this order."""

_UNSPACED = """
zh Chinese; lzh Classical Chinese; yue Cantonese; wuu Wu Chinese; gan Gan Chinese; ja Japanese;
th Thai; lo Lao; km Khmer; my Burmese; mnw Mon; shn Shan; blk Pa'O; bo Tibetan; dz Dzongkha
"""
UNSPACED = dict(re.findall(r"([a-z]+) ([^;\n]+)", _UNSPACED))
"""Languages written without spaces between words, by code."""

_MOST = 1500
"""The most characters of a piece. SudachiPy takes at most 65,535 bytes, counted after it has
normalised the text, which makes up to 33 bytes of a character; longer pieces take no less time."""
_PIECE = re.compile(
    rf".{{1,{_MOST}}}\Z"  # to the end of the text
    rf"|.{{,{_MOST - 1}}}[\n。！？]"  # to the end of a sentence
    rf"|.{{,{_MOST - 1}}} "  # to the end of a word
    rf"|.{{1,{_MOST}}}",
    re.DOTALL,
)
"""A piece of a text: the first of these that is possible, and as long as possible."""


class VocabularyError(ValueError):
    """Base of this room's errors. ``exit_code`` is the code with which `wikitopics` exits."""

    exit_code = 2

    def __str__(self) -> str:
        return visible(super().__str__())


class UnseparatedWords(VocabularyError):
    """The language is written without spaces between words, and nothing here separates them."""


def unspaced_code(code: str) -> str:
    """The code under which `UNSPACED` has the language with this code; "" if it has spaces."""
    # Min Nan and some others at zh-… use Latin letters.
    base = code if code.startswith("zh-min") else code.partition("-")[0]
    return base if base in UNSPACED else ""


def installed_versions(language: str) -> dict[str, str]:
    """The versions of the packages that a language needs, of those that are installed."""
    found = {}
    for package in PACKAGES.get(language, ()):
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def versions(language: str) -> str:
    """What separates the words of a language of `UNSPACED` here: packages and their versions.

    Raises `UnseparatedWords`, which says what to do.
    """
    found = installed_versions(language)
    if language in PACKAGES and len(found) == len(PACKAGES[language]):
        return ", ".join(f"{package} {version}" for package, version in found.items())
    if language in PACKAGES:
        install = install_command(f"wikitopics[{language}]")
        cure = f"its words need a dictionary: `{install}`"
    else:
        cure = "wikitopics cannot separate its words"
    raise UnseparatedWords(
        f"{UNSPACED[language]} is written without spaces between words, and {cure}"
    )


def spaced_text(text: str, language: str) -> str:
    """The words of ``text``, a language of `PACKAGES`, with spaces between them."""
    words_of = _words_of(language)
    # Lone surrogates are no text to other packages.
    valid = text.encode("utf-8", "replace").decode()
    words: list[str] = []
    for piece in _PIECE.findall(valid):
        words += words_of(piece)
    return " ".join(words)


def placed_words(text: str, language: str) -> Iterator[tuple[int, int, str]]:
    """The words that `spaced_text` finds, each with its place in ``text``: where it begins, and
    where it ends. The text has no lone surrogates."""
    _words_of(language)  # raises
    placed: Callable[[str], Iterable[tuple[int, int, str]]]
    placed = import_module(f"{__name__}.{language}").placed
    for piece in _PIECE.finditer(text):
        for start, end, word in placed(piece[0]):
            yield piece.start() + start, piece.start() + end, word


@cache
def _words_of(language: str) -> Callable[[str], Iterable[str]]:
    """What separates the words of a language. Raises `UnseparatedWords`."""
    versions(language)
    try:
        words: Callable[[str], Iterable[str]] = import_module(f"{__name__}.{language}").words
    except ImportError as error:
        raise UnseparatedWords(
            f"what separates the words of {UNSPACED[language]} does not load: {error}"
        ) from None
    return words
