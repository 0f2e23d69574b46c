"""The words of languages written without spaces between them, separated by other packages'
dictionaries.

One module a language, imported when its first text comes: ``words(text)`` gives the words of a text
worth counting, in order. The rest is here: what a language needs, which version of it is installed,
and texts cut into pieces, since every package has a length beyond which it refuses a text or
becomes slow.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata
from typing import Final

from wikitopics.option import install_command
from wikitopics.visible import visible

PACKAGES: Final = {
    "ja": ("sudachipy", "sudachidict_core"),
    "zh": ("rjieba", "opencc"),
    "th": ("nlpo3", "pythainlp"),
}
"""What separates the words of a language, and the dictionary, or what else it needs."""

_UNSPACED = """
zh Chinese; lzh Classical Chinese; yue Cantonese; wuu Wu Chinese; gan Gan Chinese; ja Japanese;
th Thai; lo Lao; km Khmer; my Burmese; mnw Mon; shn Shan; blk Pa'O; bo Tibetan; dz Dzongkha
"""
UNSPACED = dict(re.findall(r"([a-z]+) ([^;\n]+)", _UNSPACED))
"""Languages written without spaces between words, by code."""

_MOST = 1500
"""Characters of a piece. SudachiPy takes 65,535 bytes after it has normalised them, which makes 33
bytes of some characters; longer pieces take no less time."""
_PIECE = re.compile(
    rf"(?s).{{1,{_MOST}}}\Z|.{{,{_MOST - 1}}}[\n。！？]|.{{,{_MOST - 1}}} |.{{1,{_MOST}}}"
)
"""A piece ends with the text, otherwise with a sentence, or at least with a word, wherever
possible."""


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
    if found and len(found) == len(PACKAGES[language]):
        return ", ".join(map(" ".join, found.items()))
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
    words = _words(language)
    # Lone surrogates are no text to other packages.
    sound = text.encode("utf-8", "replace").decode()
    return " ".join(word for piece in _PIECE.findall(sound) for word in words(piece))


@cache
def _words(language: str) -> Callable[[str], Iterable[str]]:
    versions(language)
    try:
        words: Callable[[str], Iterable[str]] = import_module(f"{__name__}.{language}").words
    except ImportError as error:
        raise UnseparatedWords(
            f"what separates the words of {UNSPACED[language]} does not load: {error}"
        ) from None
    return words
