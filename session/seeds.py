"""Seeds: the words that a topic should be about, under the name that the topic gets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from wikitopics.session.errors import BadUsage, Damaged, os_error_as
from wikitopics.session.escapes import visible
from wikitopics.session.naming import LONGEST_NAME, topic_name
from wikitopics.session.options import SEEDS
from wikitopics.session.paths import user_path
from wikitopics.session.settings import Settings
from wikitopics.session.storage.files import read_input

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wikitopics.vocab import Vocabulary

MOST_BYTES = 1 << 20
"""The most bytes of a file of seeds."""
FORM = "write a line `NAME: WORD WORD …` for each topic, or a JSON object of lists of words"

Seeds = dict[str, list[str]]
"""name → words; topics 0, 1, … in this order."""


def read_seeds(file: str) -> Seeds:
    """The seeds in a file. Raises `BadUsage` for anything but seeds."""
    path = user_path(file)
    with os_error_as(f"{SEEDS.flag} {file}", BadUsage):
        data = read_input(path, MOST_BYTES)
    try:
        return parsed(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadUsage(f"{SEEDS.flag} {file}: not UTF-8 text; save it as UTF-8") from None
    except ValueError as error:
        raise BadUsage(f"{SEEDS.flag} {file}: {error}") from None


def parsed(text: str) -> Seeds:
    """The seeds in a text of either form. Raises ValueError with a message of one line."""
    pairs = _of_json(text) if text.lstrip().startswith("{") else list(_of_lines(text))
    seeds: Seeds = {}
    for name, words in pairs:
        try:
            line = topic_name(name)
        except BadUsage as error:
            raise ValueError(f"{error}, not '{visible(name)[:40]}'") from None
        if not line:
            raise ValueError("a topic has no name")
        if not words:
            raise ValueError(f"the topic {line!r} has no words")
        if line in seeds:
            raise ValueError(f"two topics are called {line!r}")
        seeds[line] = list(dict.fromkeys(words))
    if not seeds:
        raise ValueError(f"no topics; {FORM}")
    return seeds


def _of_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """(name, words) of each line that is not blank. Raises ValueError for one without a colon."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, words = line.partition(":")
        if not colon:
            raise ValueError(f"line {number} has no colon; {FORM}")
        # Words with commas between them may be phrases.
        parts = words.split(",") if "," in words else words.split()
        yield name, [word.strip() for word in parts if word.strip()]


def _of_json(text: str) -> list[tuple[str, list[str]]]:
    """(name, words) of each entry of an object, also of repeated names. Raises ValueError for
    anything but an object of lists of words."""
    try:
        pairs: object = json.loads(text, object_pairs_hook=list, parse_int=float)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if isinstance(pairs, list) and all(_is_list_of_words(words) for _, words in pairs):
        return pairs
    raise ValueError(f"not an object of lists of words; {FORM}")


def _is_list_of_words(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(word, str) and word.strip() for word in value)


def stored_seeds(settings: Settings) -> Seeds:
    """The seeds that a session keeps. Raises `Damaged`."""
    if SEEDS not in settings:
        return {}
    try:
        return parsed(settings[SEEDS])
    except ValueError as error:
        raise Damaged(f"settings.{SEEDS.name}: {error}") from None


def ids_of(seeds: Mapping[str, Sequence[str]], vocabulary: Vocabulary) -> list[NDArray[np.int64]]:
    """The words' ids in a vocabulary, by topic. Raises `BadUsage` if it has none of the words of a
    topic."""
    import numpy as np

    ids = []
    for name, words in seeds.items():
        of_words = [_ids_in(word, vocabulary) for word in words]
        of_topic = np.unique(np.concatenate(of_words)).astype(np.int64)
        if not len(of_topic):
            raise BadUsage(
                f"{SEEDS.flag}: the vocabulary has none of the words of {name!r}: {_listed(words)}"
            )
        ids.append(of_topic)
    return ids


def unknown_words(seeds: Mapping[str, Sequence[str]], vocabulary: Vocabulary) -> Iterator[str]:
    """A line for each topic with words that the vocabulary lacks."""
    for name, words in seeds.items():
        unknown = [word for word in words if not len(_ids_in(word, vocabulary))]
        if unknown:
            yield f"seeds of {name!r}: the vocabulary has no {_listed(unknown)}"


def _ids_in(word: str, vocabulary: Vocabulary) -> NDArray[np.int32]:
    ids, _ = vocabulary.count(word)
    return ids


def _listed(words: Sequence[str]) -> str:
    listed = ", ".join(visible(word)[:LONGEST_NAME] for word in words[:10])
    if len(words) > 10:
        listed += f" and {len(words) - 10} more"
    return listed
