"""Chinese: the words of a text in simplified characters, so that both scripts are one vocabulary."""

from collections.abc import Iterator

import rjieba
from opencc import OpenCC

_simplified = OpenCC("t2s").convert


def words(text: str) -> Iterator[str]:
    """Nouns, names, verbs (the dictionary calls many nouns so), adjectives, and words in Latin letters."""
    return (word for word, tag in rjieba.tag(_simplified(text)) if tag[0] in "nva" or tag == "eng")
