"""Names of topics: the words in them, and whether a name still tells what its topic is about."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

WORDS_IN_NAME = 3
LEADING_WORDS = 2
"""How many of the words of a name must be among the topic's most probable words, for the name to be
shown."""
MOST_RELEVANT = 10
"""A name is kept while its words are among this many of the topic's most relevant words."""


def name_words(relevant: Sequence[str]) -> tuple[str, ...]:
    """The words of a topic's name.

    ``relevant``: the topic's words, the most relevant first. Of two forms of a word ("film",
    "films") only the first counts.
    """
    chosen: list[str] = []
    for word in relevant:
        if not any(_same_word(word, other) for other in chosen):
            chosen.append(word)
        if len(chosen) == WORDS_IN_NAME:
            break
    return tuple(chosen)


def most_words_relevant(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all of a name's words but one are among a topic's most relevant words.

    ``name``, ``relevant``: both as words or both as ids, the most relevant first. A name of a
    single word needs that word.
    """
    kept = set(name) & set(relevant[:MOST_RELEVANT])
    return len(kept) >= max(1, len(name) - 1)


def all_words_relevant(name: Sequence[Hashable], relevant: Sequence[Hashable]) -> bool:
    """Whether all of a name's words are among a topic's most relevant words; arguments as for
    `most_words_relevant`."""
    return set(name) <= set(relevant[:MOST_RELEVANT])


def has_leading_words(name: Sequence[Hashable], leading: Sequence[Hashable]) -> bool:
    """Whether at least two of a name's words are among ``leading``, the topic's most probable
    words; always true of a name of one word."""
    if len(name) < LEADING_WORDS:
        return True
    shared = set(name) & set(leading)
    return len(shared) >= LEADING_WORDS


def _same_word(one: str, other: str) -> bool:
    """Whether two words differ only in their last letters: "film" and "films", "party" and
    "parties".

    Titles, which have capitals, differ even then: "Iran" and "Iraq".
    """
    is_title = one != one.lower()
    if is_title:
        return False
    short, long = sorted((one, other), key=len)
    if len(short) < 3 or len(long) - len(short) > 2:
        return False
    stem = short[: max(3, len(short) - 1)]
    return long.startswith(stem)
