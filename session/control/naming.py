"""Giving a topic a name."""

from pathlib import Path

from wikitopics.session.errors import BadUsage
from wikitopics.session.storage.decoding import LONGEST_NAME
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.tables.topics import give_name


def rename(path: Path, model: str, topic: int, name: str) -> str:
    """Name a topic ``name`` from now on, everywhere; an empty name restores the one made of its words.

    Works beside a trainer. Returns the topic's new name. Raises `BadUsage` if there is no such topic or the
    name cannot be shown in a line, and `SessionError` if the session has no topics yet.
    """
    with SessionReader(path) as reader:
        reader.check_topic(model, topic)
        reader.check_trained()
        number = reader.models().index(model)
    given = " ".join(name.split())
    if len(given) > LONGEST_NAME or not given.isprintable():
        raise BadUsage(f"a topic's name must have 1 to {LONGEST_NAME} printable characters")
    give_name(path, number, topic, given or None)
    with SessionReader(path) as reader:
        return next(iter(reader.topic_names(model)[topic : topic + 1]), "")
