"""Thai: all words of a text, by the longest matches in PyThaiNLP's dictionary."""

from importlib.metadata import distribution

import nlpo3

_NAME = "wikitopics"
nlpo3.load_dict(str(distribution("pythainlp").locate_file("pythainlp/corpus/words_th.txt")), _NAME)


def words(text: str) -> list[str]:
    """The words, of whatever kind: the dictionary has no parts of speech."""
    return [*nlpo3.segment(text, _NAME)]
