"""Thai: all words of a text, by the longest matches in PyThaiNLP's dictionary."""

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution

import nlpo3

_NAME = "wikitopics"
_DICTIONARY = distribution("pythainlp").locate_file("pythainlp/corpus/words_th.txt")
nlpo3.load_dict(str(_DICTIONARY), _NAME)

_THAI = re.compile("([\u0e00-\u0e7f]+)")

# How the dictionary spells what looks the same: NFKC takes sara am (U+0E33) apart, and people type
# marks in any order, and e twice for ae.
_TONE = "[\u0e48-\u0e4b]"
_SPELLINGS = [
    (re.compile("([\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])\\1+"), r"\1"),
    (re.compile("\u0e40\u0e40"), "\u0e41"),
    (
        re.compile(f"\u0e4d({_TONE}?)\u0e32|({_TONE})\u0e4d\u0e32|\u0e33({_TONE})"),
        "\\1\\2\\3\u0e33",
    ),
    (re.compile("([\u0e48-\u0e4c])([\u0e31\u0e34-\u0e3a])"), r"\2\1"),
]

_STEP = 20
"""Characters after which a long repetition is cut. While words are ambiguous, the time that nlpo3
takes grows with the square of the length, and words of repeated letters may stay ambiguous to their
end."""
_MOST_REPEATED = 8
"""The longest part, in characters, whose repetitions are cut."""
_REPETITION = re.compile(
    "|".join(
        rf"(?:(.{{{size}}})\{size}{{{2 * _STEP // size},}})"
        for size in range(1, _MOST_REPEATED + 1)
    )
)


def words(text: str) -> Iterator[str]:
    """The words, of whatever kind: the dictionary has no parts of speech. Other scripts stay as
    they are."""
    for number, part in enumerate(_THAI.split(spelt(text))):
        is_thai = number % 2 == 1  # since the pattern has a group
        if not is_thai:
            yield part
            continue
        for piece in _pieces(part):
            yield from nlpo3.segment(piece, _NAME)


def spelt(text: str) -> str:
    """The text with vowels and tone marks composed and in order."""
    for pattern, new in _SPELLINGS:
        text = pattern.sub(new, text)
    return text


def _may_repeat(part: str) -> bool:
    """Whether there may be a repetition to cut: what stands at one of these places would soon come
    again."""
    size = _MOST_REPEATED
    return any(
        part.find(part[place : place + size], place + 1, place + 2 * size) >= 0
        for place in range(0, len(part) - 2 * size, _STEP)
    )


_CLUSTER = re.compile("[^\u0e01-\u0e2e]*[\u0e01-\u0e2e]|[^\u0e01-\u0e2e]+")
"""What ends at a consonant: no spelling reaches beyond one."""


def placed(text: str) -> Iterator[tuple[int, int, str]]:
    """The same words, each with its place in the text."""
    end = 0
    spelling = spelt(text)
    sources = _sources(text, spelling)
    for word in words(text):
        start = spelling.index(word, end)
        end = start + len(word)
        yield sources[start], sources[end], word


def _sources(text: str, spelling: str) -> Sequence[int]:
    """For each place in the spelt text, the end included, the same place in the text."""
    if len(spelling) == len(text):
        return range(len(text) + 1)
    sources: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        length = len(spelt(cluster[0]))
        sources += [min(cluster.start() + place, cluster.end() - 1) for place in range(length)]
    return [*sources, len(text)]


def _pieces(part: str) -> Iterator[str]:
    """A part without blanks, cut within long repetitions; beside them, words stay whole."""
    begin = 0
    if _may_repeat(part):
        for repetition in _REPETITION.finditer(part):
            size = len(repetition[repetition.lastindex or 1])
            step = _STEP // size * size
            for cut in range(repetition.start() + step, repetition.end() - step, step):
                yield part[begin:cut]
                begin = cut
    yield part[begin:]
