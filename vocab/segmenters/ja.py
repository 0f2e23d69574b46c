"""Japanese: the nouns and names of a text, as the Sudachi dictionary spells them."""

from threading import Lock

from sudachipy import Dictionary, SplitMode

_NAMES = ("名詞", "固有名詞")
_NOUNS = ("名詞", "普通名詞")
_NO_SUBJECTS = ("副詞可能", "助数詞可能")
"""The third parts of nouns that can be adverbs, such as 当初 and 最近, and of units, such as
年間."""

_dictionary = Dictionary()
_tokenizer = _dictionary.tokenizer(mode=SplitMode.C)  # whole names: 東京都庁 is one word
_turn = Lock()
"""Threads cannot use a tokenizer at the same time, and a new one for each text takes a fifth more
time."""


def _says_something(part_of_speech: tuple[str, ...]) -> bool:
    """Whether this part of speech, from the general to the particular, is a name or a noun that can
    be a subject."""
    if part_of_speech[:2] == _NAMES:
        return True
    return part_of_speech[:2] == _NOUNS and part_of_speech[2] not in _NO_SUBJECTS


_is_counted = _dictionary.pos_matcher(_says_something)


def words(text: str) -> list[str]:
    """Nouns and names in one spelling: 吹替 and 吹き替え, リボン and りぼん."""
    with _turn:
        return [word.normalized_form() for word in _tokenizer.tokenize(text) if _is_counted(word)]


def placed(text: str) -> list[tuple[int, int, str]]:
    """The same words, each with its place in the text."""
    with _turn:
        return [
            (word.begin(), word.end(), word.normalized_form())
            for word in _tokenizer.tokenize(text)
            if _is_counted(word)
        ]
