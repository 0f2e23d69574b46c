"""Chinese: the words of a text in simplified characters, so that both scripts are one
vocabulary."""

import re
from collections.abc import Iterator

import rjieba
from opencc import OpenCC

_simplified = OpenCC("t2s").convert
_CHINESE = re.compile("([\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)")


def words(text: str) -> Iterator[str]:
    """Nouns, names, verbs (the dictionary calls many nouns so) and adjectives. Other scripts stay
    as they are."""
    for _, _, word in placed(text):
        yield word


def placed(text: str) -> Iterator[tuple[int, int, str]]:
    """The same words, each with its place in the text: every simplified character stands for
    one."""
    end = 0
    for number, part in enumerate(_CHINESE.split(_simplified(text))):
        is_chinese = number % 2 == 1  # since the pattern has a group
        if not is_chinese:
            start = end
            end += len(part)
            yield start, end, part
            continue
        for word, part_of_speech in rjieba.tag(part):
            start = end
            end += len(word)
            if part_of_speech[0] in ("n", "v", "a"):
                yield start, end, word
