"""Texts of three subjects, and a small model of them."""

import random

import wikitopics as wt
from wikitopics.session.in_memory_texts import InMemoryTexts

SUBJECTS = {
    subject: [subject + letter for letter in "abcdefghijkl"]
    for subject in ("river", "song", "theorem")
}
WORDS = [word for words in SUBJECTS.values() for word in words]


def text(number):
    """Eight words of one subject; texts of the three subjects take turns."""
    words = list(SUBJECTS.values())[number % len(SUBJECTS)]
    return " ".join(random.Random(number).choices(words, k=8))


TEXTS = [text(number) for number in range(120)]
HELD_OUT = 12
"""The tenth of these texts that a session holds out."""
TRAINED = len(TEXTS) - HELD_OUT


def assert_nothing_is_left(path):
    assert not any(file.exists() for file in InMemoryTexts.of(path))


def learn(texts=TEXTS, **options):
    return wt.train(
        texts, **{"session": "notes", "model": "scvb0", "topics": 3, "passes": 2, **options}
    )
