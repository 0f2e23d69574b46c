"""The words of many texts at once, as numbers. Importing this module loads numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Any large odd number."""
_END_OF_LINE = np.uint32(ord("\n"))
_BEYOND_ASCII = np.uint32(0x80)


@kernel
def number_words(
    codes: NDArray[np.uint32],
    in_words: NDArray[np.bool_],
    of_characters: bool,
    keys: NDArray[np.uint32],
    words_before: NDArray[np.int64],
) -> int:
    """Write a number for each word of some lines, and the number of words before the end of each
    line; return the number of words.

    codes: the characters. in_words: for each character whether it belongs to a word; the last one
    stands for all that follow. of_characters: whether each character beyond ASCII is a word. keys,
    words_before: what is written, at most one key for each character

    A word's number is the sum of its characters, each times a power of the factor.
    """
    last = np.uint32(len(in_words) - 1)
    words = 0
    line = 0
    number = np.uint64(0)
    power = np.uint64(1)
    is_inside = False
    for code in codes:
        in_word = in_words[min(code, last)]
        begins_anew = of_characters and code >= _BEYOND_ASCII
        if is_inside and (not in_word or begins_anew):
            keys[words] = np.uint32(number >> np.uint64(32))
            words += 1
            is_inside = False
        if in_word:
            if not is_inside:
                number = np.uint64(0)
                power = np.uint64(1)
                is_inside = True
            power *= _FACTOR
            number += np.uint64(code) * power
        elif code == _END_OF_LINE:
            words_before[line] = words
            line += 1
    if is_inside:
        keys[words] = np.uint32(number >> np.uint64(32))
        words += 1
    words_before[line] = words
    return words
