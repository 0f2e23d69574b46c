"""Words in many texts at a time: separated as the first two rules of `rules` say, and counted.

| symbol | shape and type | meaning |
|---|---|---|
| data | (any,) bytes | texts one after another, in UTF-8 |
| offsets | (texts + 1,) whole numbers | where each of them begins, and where the last one ends |
| words | (any,) bytes | the words of the texts, each in UTF-8 with a space behind it |
| ends | (texts + 1,) whole numbers | where the words of each text begin, and the last ones end |
"""

import numpy as np
from numpy.typing import NDArray

from wikitopics.compiled import kernel
from wikitopics.vocab.characters import (
    ADDS_DOT,
    BEGINS_WORDS,
    CAPITAL_SIGMA,
    FINAL_SIGMA,
    FIRST_HEBREW,
    GERSHAYIM,
    IS_APOSTROPHE,
    IS_CASED,
    IS_COMPOSED,
    IS_LEFT_OUT,
    IS_QUOTE,
    IS_RARE,
    IS_SKIPPED_FOR_CASE,
    LAST_HEBREW,
    MAY_COMPOSE,
    ONLY_BETWEEN_LETTERS,
    SEPARATES,
    SIGMA,
)
from wikitopics.vocab.tables import LONGEST_CUT_SHORT, Bytes, Characters, Offsets, WordTable

# Characters as the kernels read them: as numbers.
_SPACE = ord(" ")
_QUOTE = ord('"')
_APOSTROPHE = ord("'")
_GERSHAYIM = ord(GERSHAYIM)
_CAPITAL_SIGMA = ord(CAPITAL_SIGMA)
_SIGMA = ord(SIGMA)
_FINAL_SIGMA = ord(FINAL_SIGMA)
_FIRST_HEBREW = ord(FIRST_HEBREW)
_LAST_HEBREW = ord(LAST_HEBREW)
_NO_LETTER = SEPARATES | IS_APOSTROPHE | ONLY_BETWEEN_LETTERS | IS_QUOTE
_HEBREW = 0xD7
"""The first of the two bytes of every Hebrew letter."""
_MOST_MARKS = 30
"""The most marks behind a letter that are gone through for each further one: as many as there are
in Unicode's stream-safe texts."""


@kernel
def _char_at(data: Bytes, at: int) -> int:
    """The character that begins at this byte of valid UTF-8."""
    first = int(data[at])
    if first < 0x80:
        return first
    second = int(data[at + 1]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second
    third = int(data[at + 2]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third
    fourth = int(data[at + 3]) & 0x3F
    return (first & 0x07) << 18 | second << 12 | third << 6 | fourth


@kernel
def _size_at(data: Bytes, at: int) -> int:
    """The bytes of the character that begins there."""
    first = data[at]
    if first < 0x80:
        return 1
    if first < 0xE0:
        return 2
    return 3 if first < 0xF0 else 4


@kernel
def _start_before(data: Bytes, end: int) -> int:
    """Where the character begins that ends before this byte."""
    start = end - 1
    while data[start] & 0xC0 == 0x80:
        start -= 1
    return start


@kernel
def _append(words: Bytes, end: int, char: int) -> int:
    """The end of the words with this character behind them."""
    if char < 0x80:
        words[end] = char
        return end + 1
    if char < 0x800:
        words[end] = 0xC0 | char >> 6
        words[end + 1] = 0x80 | char & 0x3F
        return end + 2
    if char < 0x10000:
        words[end] = 0xE0 | char >> 12
        words[end + 1] = 0x80 | char >> 6 & 0x3F
        words[end + 2] = 0x80 | char & 0x3F
        return end + 3
    words[end] = 0xF0 | char >> 18
    words[end + 1] = 0x80 | char >> 12 & 0x3F
    words[end + 2] = 0x80 | char >> 6 & 0x3F
    words[end + 3] = 0x80 | char & 0x3F
    return end + 4


@kernel
def _is_digit(char: int) -> bool:
    return 0x30 <= char <= 0x39


@kernel
def _kind_at(words: Bytes, at: int, characters: Characters) -> int:
    char = _char_at(words, at)
    return int(characters.kinds[characters.row_of[char >> 8], char & 0xFF])


@kernel
def _class_at(words: Bytes, at: int, characters: Characters) -> int:
    """The combining class of the character that begins there."""
    char = _char_at(words, at)
    return int(characters.combining[characters.row_of[char >> 8], char & 0xFF])


@kernel
def _is_among(number: int, numbers: NDArray[np.int64]) -> bool:
    """Whether a number is among these, which ascend."""
    low = 0
    high = len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < len(numbers) and bool(numbers[low] == number)


@kernel
def _is_mark_at(words: Bytes, at: int, characters: Characters) -> bool:
    """Whether the character that begins there is a mark, not a letter, with or without marks."""
    is_letter = _kind_at(words, at, characters) & IS_COMPOSED > 0
    return _class_at(words, at, characters) > 0 and not is_letter


@kernel
def _composes(words: Bytes, start: int, end: int, char: int, characters: Characters) -> bool:
    """Whether NFC would change the word from ``start`` to ``end`` with this character behind it, or
    might, because the word ends with very many marks."""
    if end == start:
        return False
    own_class = int(characters.combining[characters.row_of[char >> 8], char & 0xFF])
    at = _start_before(words, end)
    class_before = _class_at(words, at, characters)
    if class_before > own_class > 0:
        return True
    n_marks = 0
    while at > start and _is_mark_at(words, at, characters):
        at = _start_before(words, at)
        n_marks += 1
        if n_marks > _MOST_MARKS:
            return True
    return _is_among(_char_at(words, at) << 21 | char, characters.pairs)


@kernel
def _is_cut_short(words: Bytes, start: int, end: int, cut_short: NDArray[np.int64]) -> bool:
    """Whether these bytes are one of the words that are `cut_short`."""
    if len(cut_short) == 0 or end - start > LONGEST_CUT_SHORT:
        return False
    number = 0
    for at in range(start, end):
        number = number << 8 | int(words[at])
    return _is_among(number, cut_short)


@kernel
def _lower_sigmas(words: Bytes, start: int, end: int, characters: Characters) -> None:
    """Give each capital sigma of a word its lower case, of which there are two: the final one
    follows a letter and precedes none."""
    at = start
    while at < end:
        size = _size_at(words, at)
        if _char_at(words, at) == _CAPITAL_SIGMA:
            follows = False
            before = at
            while before > start:
                before = _start_before(words, before)
                kind = _kind_at(words, before, characters)
                follows = kind & IS_CASED > 0
                if not kind & IS_SKIPPED_FOR_CASE:
                    break
            precedes = False
            behind = at + size
            while behind < end:
                kind = _kind_at(words, behind, characters)
                precedes = kind & IS_CASED > 0
                if not kind & IS_SKIPPED_FOR_CASE:
                    break
                behind += _size_at(words, behind)
            _append(words, at, _FINAL_SIGMA if follows and not precedes else _SIGMA)
        at += size


@kernel
def _ended(words: Bytes, start: int, end: int, is_odd: bool, characters: Characters) -> int:
    """The end of the words once the last one, from ``start`` to ``end``, has a space behind it; the
    ``start`` if that is no word.

    ``is_odd``: whether it begins with a mark or a digit, or has an apostrophe or a capital sigma.
    """
    if end == start:
        return start
    if is_odd:
        end = _righted(words, start, end, characters)
        if end == start:
            return start
    words[end] = _SPACE
    return end + 1


@kernel
def _righted(words: Bytes, start: int, end: int, characters: Characters) -> int:
    """The end of an odd word that is made what the rule says; the ``start`` if that is no word."""
    _lower_sigmas(words, start, end, characters)
    possessive = characters.possessive
    length = len(possessive)
    if length and end - start >= length:
        is_possessive = True
        for place in range(length):
            is_possessive = is_possessive and words[end - length + place] == possessive[place]
        if is_possessive:
            end -= length
    if characters.digits:
        has_letter = False
        for at in range(start, end):
            has_letter = has_letter or (words[at] != _APOSTROPHE and not _is_digit(words[at]))
        if not has_letter:
            return start
    first = start
    while first < end and not _kind_at(words, first, characters) & BEGINS_WORDS:
        first += _size_at(words, first)
    for at in range(first, end):
        words[start + at - first] = words[at]
    return end - (first - start)


@kernel
def separate(
    data: Bytes,
    offsets: Offsets,
    characters: Characters,
    words: Bytes,
    ends: Offsets,
    is_rare: NDArray[np.bool_],
) -> bool:
    """Separate the words of each text, as rule 1 or 2 does; returns whether the `Characters` have
    the rows of all that is in them: otherwise it has to be done again.

    ``words`` must have room for twice the data and two bytes for each text. ``is_rare``, (texts,),
    tells which texts have something that this does not know; they get no words.
    """
    # No literals: kernels that are called with these would be compiled for 0 and False alone, too.
    zero = int(offsets[0])
    false = zero > 0
    end = zero
    for text in range(len(offsets) - 1):
        ends[text] = end
        is_rare[text] = False
        start = end  # where the current word begins
        segment = end  # where the part of it behind its last apostrophe begins
        mark = zero  # what belongs to the word if a letter follows
        is_odd = false
        has_hebrew_letter = False
        at = offsets[text]
        stop = offsets[text + 1]
        while at <= stop:
            quick = characters.quick[data[at]] if at < stop else np.uint8(0)
            if quick > 1 and mark == 0:
                words[end] = quick
                end += 1
                at += 1
                continue
            if quick == 0 and not is_odd:
                if end > start:
                    words[end] = _SPACE
                    end += 1
                start = end
                segment = end
                mark = zero
                at += 1
                continue
            kind = SEPARATES
            char = zero
            lower = zero
            if quick == 0:
                at += 1
            else:
                char = _char_at(data, at)
                at += _size_at(data, at)
                row = characters.row_of[char >> 8]
                if row < 0:
                    return False
                kind = int(characters.kinds[row, char & 0xFF])
                lower = int(characters.lower[row, char & 0xFF])
            if kind & IS_LEFT_OUT:
                continue
            separates = kind & _NO_LETTER > 0
            ends_word = separates
            if separates:
                may_stay = kind & SEPARATES == 0 and mark == 0 and end > start
                if kind & IS_QUOTE:
                    may_stay = may_stay and end - start >= 2 and words[end - 2] == _HEBREW
                if may_stay:
                    mark = _APOSTROPHE if kind & IS_APOSTROPHE else char
                    continue
            elif mark == _QUOTE:
                is_hebrew = char >> 6 == _HEBREW & 0x1F
                is_rare[text] = is_hebrew and not has_hebrew_letter
                ends_word = not is_hebrew
                mark = _GERSHAYIM
            elif mark == _APOSTROPHE:
                ends_word = _is_cut_short(words, segment, end, characters.cut_short)
            if ends_word:
                end = _ended(words, start, end, is_odd, characters)
                start = end
                segment = end
                is_odd = false
            elif mark:
                end = _append(words, end, mark)
                if mark == _APOSTROPHE:
                    segment = end
                    is_odd = True
            mark = zero
            if separates:
                continue
            if kind & MAY_COMPOSE:
                is_rare[text] |= _composes(words, start, end, lower, characters)
            if kind & IS_RARE:
                is_rare[text] = True
            if is_rare[text]:
                break
            if lower == _CAPITAL_SIGMA or (end == start and not kind & BEGINS_WORDS):
                is_odd = True
            if end == start and _is_digit(lower):
                is_odd = True
            if _FIRST_HEBREW <= char <= _LAST_HEBREW:
                has_hebrew_letter = True
            end = _append(words, end, lower)
            if kind & ADDS_DOT:  # U+0307, in UTF-8
                words[end] = 0xCC
                words[end + 1] = 0x87
                end += 2
        if is_rare[text]:
            end = ends[text]
    ends[len(offsets) - 1] = end
    return True


_FIRST_HASH = np.uint64(14695981039346656037)
_PRIME = np.uint64(1099511628211)
_SHIFT = np.uint64(29)
_ONE = np.uint64(1)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Shifted by 0 to 63 bits, this has different highest 6 bits each time."""


@kernel
def _hashed_byte(begun: np.uint64, byte: int) -> np.uint64:
    """The hash (FNV-1a) of what has the hash ``begun`` and this byte behind it."""
    return (begun ^ np.uint64(byte)) * _PRIME


@kernel
def _entry_of(words: Bytes, start: int, end: int, number: np.uint64, table: WordTable) -> int:
    """The entry of these bytes, which have this hash; -1 if there is none."""
    mask = np.uint64(len(table.entries) - 1)
    slot = (number ^ (number >> _SHIFT)) & mask
    while table.entries[slot] >= 0:
        if table.hashes[slot] == number:
            entry = table.entries[slot]
            first = table.offsets[entry]
            if table.offsets[entry + 1] - first == end - start:
                place = start
                shift = first - start
                while place < end and table.data[place + shift] == words[place]:
                    place += 1
                if place == end:
                    return int(entry)
        slot = (slot + _ONE) & mask
    return -1


@kernel
def _hashed_to_space(words: Bytes, start: int, begun: np.uint64) -> tuple[int, np.uint64]:
    """Where the space behind a word is, and the hash of what has the hash ``begun`` and this word
    behind it."""
    end = start
    number = begun
    byte = words[end]
    while byte != _SPACE:
        number = _hashed_byte(number, byte)
        end += 1
        byte = words[end]
    return end, number


@kernel
def fill(table: WordTable) -> None:
    """Put all entries, which differ, into the empty slots of a table."""
    mask = np.uint64(len(table.entries) - 1)
    for entry in range(len(table.offsets) - 1):
        number = _FIRST_HASH
        for at in range(table.offsets[entry], table.offsets[entry + 1]):
            number = _hashed_byte(number, table.data[at])
        slot = (number ^ (number >> _SHIFT)) & mask
        while table.entries[slot] >= 0:
            slot = (slot + _ONE) & mask
        table.entries[slot] = entry
        table.hashes[slot] = number


@kernel
def count(
    words: Bytes,
    ends: Offsets,
    table: WordTable,
    counts_of: NDArray[np.int32],
    indptr: Offsets,
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> int:
    """Count the known words of each text, and known phrases instead of the words in them, from left
    to right, the longest first; returns the number of entries.

    Fills ``indptr``, (texts + 1,), ``ids`` and ``counts``: compressed sparse rows with ascending
    ids. ``counts_of``, (word ids,), is all 0, before and after.
    """
    # The words found, as bits: in ascending order sooner than sorted.
    found = np.zeros(len(counts_of) // 64 + 1, np.uint64)
    places = np.empty(64, np.int64)
    for place in range(64):
        places[(_DE_BRUIJN << np.uint64(place)) >> np.uint64(58)] = place
    total = 0
    indptr[0] = 0
    for text in range(len(ends) - 1):
        at = ends[text]
        stop = ends[text + 1]
        while at < stop:
            end, number = _hashed_to_space(words, at, _FIRST_HASH)
            entry = _entry_of(words, at, end, number, table)
            at_next = end + 1
            if entry >= 0:
                word = table.ids[entry]
                for _ in range(1, table.longest[entry]):
                    if end + 1 >= stop:
                        break
                    end, number = _hashed_to_space(words, end + 1, _hashed_byte(number, _SPACE))
                    phrase = _entry_of(words, at, end, number, table)
                    if phrase >= 0 and table.ids[phrase] >= 0:
                        word = table.ids[phrase]
                        at_next = end + 1
                if word >= 0:
                    counts_of[word] += 1
                    found[word >> 6] |= _ONE << np.uint64(word & 63)
            at = at_next
        for block in range(len(found)):
            while found[block]:
                lowest = found[block] & (~found[block] + _ONE)
                word = 64 * block + places[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                ids[total] = word
                counts[total] = counts_of[word]
                counts_of[word] = 0
                total += 1
                found[block] ^= lowest
        indptr[text + 1] = total
    return total
