"""Names of topics: the words in them, and whether a name still tells what its topic is about."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

WORDS_IN_NAME = 3
SHORTEST_STEM = 3
"""The fewest letters that two forms of a word have in common."""
LONGEST_ENDING = 2
"""The most letters by which two forms of a word differ in length."""
FITTING_WORDS = 10
"""A name fits a topic while its words are among this many of its words that are shown first."""


def name_words(ordered: Sequence[str]) -> tuple[str, ...]:
    """The words of a topic's name: the first ones, each in one form.

    ``ordered``: the topic's words in the order in which they are shown
    """
    return tuple(ordered[place] for place in first_forms(ordered)[:WORDS_IN_NAME])


def first_forms(words: Sequence[str]) -> list[int]:
    """The places, ascending, of the words that are not a form of an earlier one: of "film" and
    "films", only of the first."""
    chosen: list[int] = []
    alike: dict[str, list[str]] = {}  # the chosen words, by their first letters
    for place, word in enumerate(words):
        others = alike.setdefault(word[:SHORTEST_STEM], [])
        if not any(_same_word(word, other) for other in others):
            others.append(word)
            chosen.append(place)
    return chosen


def most_words_fit(name: Sequence[Hashable], ordered: Sequence[Hashable]) -> bool:
    """Whether all of a name's words but one are among the first words of a topic.

    ``name``, ``ordered``: both as words or both as ids; ``ordered``: the topic's words in the order
    in which they are shown. A name of a single word needs that word.
    """
    kept = set(name) & set(ordered[:FITTING_WORDS])
    return len(kept) >= max(1, len(name) - 1)


def all_words_fit(name: Sequence[Hashable], ordered: Sequence[Hashable]) -> bool:
    """Whether all of a name's words are among the first words of a topic; arguments as for
    `most_words_fit`."""
    return set(name) <= set(ordered[:FITTING_WORDS])


def _same_word(one: str, other: str) -> bool:
    """Whether two words differ only in their last letters: "film" and "films", "party" and
    "parties", "game" and "gaming", but not "band" and "bank", or "car" and "card".

    Titles, which have capitals, differ even then: "Iran" and "Iraq".
    """
    is_title = one != one.lower()
    if is_title:
        return False
    short, long = sorted((one, other), key=len)
    if long.isascii() and long.endswith("ing") and short in _other_forms(long):
        return True
    if len(short) < SHORTEST_STEM or len(long) - len(short) > LONGEST_ENDING:
        return False
    is_latin = long.isascii()
    if long.startswith(short):
        ending = long[len(short) :]
        return not is_latin or len(short) > SHORTEST_STEM or ending in ("s", "es")
    stem = short[:-1]
    if is_latin and short.endswith("y"):
        return long == f"{stem}ies"
    shortest_stem = 5 if is_latin else 4
    return len(stem) >= shortest_stem and long.startswith(stem)


def _other_forms(participle: str) -> tuple[str, ...]:
    """The forms that a word ending in "ing" may have besides: of "playing" "play" and "played"; of
    "racing" "race"."""
    stem = participle.removesuffix("ing")
    if len(stem) < SHORTEST_STEM:
        return ()
    forms = (f"{stem}e", f"{stem}ed", f"{stem}es")
    return forms if len(stem) == SHORTEST_STEM else (*forms, stem, f"{stem}s")
