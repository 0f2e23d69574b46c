"""Thai: all words of a text, by the longest matches in PyThaiNLP's dictionary."""

import re
from collections.abc import Iterator
from importlib.metadata import distribution

import nlpo3

_NAME = "wikitopics"
nlpo3.load_dict(str(distribution("pythainlp").locate_file("pythainlp/corpus/words_th.txt")), _NAME)


_THAI = re.compile("([\u0e00-\u0e7f]+)")


def words(text: str) -> Iterator[str]:
    """The words, of whatever kind: the dictionary has no parts of speech. Other scripts stay as they are."""
    for number, part in enumerate(_THAI.split(text)):
        yield from nlpo3.segment(part, _NAME) if number % 2 else (part,)
