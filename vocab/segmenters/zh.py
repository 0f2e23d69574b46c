"""Chinese: the words of a text in simplified characters, so that both scripts are one
vocabulary."""

import re
from collections.abc import Iterator

import rjieba
from opencc import OpenCC

_simplified = OpenCC("t2s").convert


_CHINESE = re.compile("([\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)")


def words(text: str) -> Iterator[str]:
    """Nouns, names, verbs (the dictionary calls many nouns so), adjectives; other scripts as they
    are."""
    for number, part in enumerate(_CHINESE.split(_simplified(text))):
        yield from (
            (word for word, tag in rjieba.tag(part) if tag[0] in "nva") if number % 2 else (part,)
        )
