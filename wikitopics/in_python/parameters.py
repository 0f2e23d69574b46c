"""The options behind the parameters of `train`, and messages in terms of the parameters."""

from __future__ import annotations

import re
from typing import Any

from wikitopics.crawler.mediawiki.kinds import LANG
from wikitopics.crawler.texts.kinds import COLUMN, ID_COLUMN, MARKUP, TEXTS, TITLE_COLUMN
from wikitopics.option import Option
from wikitopics.session.escapes import visible
from wikitopics.session.options import (
    HELD_OUT,
    MODEL,
    NO_SNIPPETS,
    PASSES,
    REPLICAS,
    SEED,
    SEEDS,
    SOURCE,
    TOPICS,
    VOCAB,
)

OPTIONS: tuple[Option[Any], ...] = (
    SOURCE,
    TEXTS,
    COLUMN,
    TITLE_COLUMN,
    ID_COLUMN,
    VOCAB,
    MODEL,
    TOPICS,
    HELD_OUT,
    PASSES,
    REPLICAS,
    NO_SNIPPETS,
    SEED,
    SEEDS,
    MARKUP,
)
_PARAMETERS = {
    **{option.flag: option.name for option in (*OPTIONS, LANG)},
    VOCAB.flag: "vocabulary",
    NO_SNIPPETS.flag: "snippets=False",
    COLUMN.flag: "text_column",
    TITLE_COLUMN.flag: "titles",
    ID_COLUMN.flag: "ids",
    "--session": "session",
}
"""The parameters of `train` by the options of the command line."""
_COMMAND_OR_OPTION = re.compile("`[^`]*`|--[a-z-]+")


def in_python(message: str) -> str:
    """A message with the parameters of `train` in place of the options of the command line. Names
    in it cannot act on a terminal."""

    def parameter_of(match: re.Match[str]) -> str:
        found = match[0]
        return _PARAMETERS.get(found, found)  # a command in backticks keeps its options

    return visible(_COMMAND_OR_OPTION.sub(parameter_of, message))
