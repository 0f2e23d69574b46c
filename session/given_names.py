"""Giving a topic a name, by hand or by a command that is asked for one, and hiding topics."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.naming import LONGEST_NAME, topic_name
from wikitopics.session.records import SNAPSHOT_WORDS, TopicRow
from wikitopics.session.signals import Signals
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.topics import give_name, hide
from wikitopics.session.system import kill_group, start_command

PATIENCE = 30.0
"""The most seconds that a command may take for a name."""
MOST_ANSWER = 4096
"""The most bytes that are read of the command's answer, far more than a name may have."""
MOST_PRINTED = 64 << 20
"""A command that prints more bytes is killed: its output is stored in a file."""


def rename(path: Path, model: str, topic: int, name: str) -> str:
    """Name a topic ``name`` from now on, everywhere; an empty name restores the one made of its
    words.

    Works beside a trainer. Returns the topic's new name. Raises `BadUsage` if there is no such
    topic or the name cannot be shown in a line, and `SessionError` if the session has no topics
    yet.
    """
    with SessionReader(path) as reader:
        reader.check_topic(model, topic)
        reader.check_trained()
        number = reader.models().index(model)
    give_name(path, number, topic, topic_name(name) or None)
    with SessionReader(path) as reader:
        names = reader.topic_names(model)
    return names[topic] if topic < len(names) else ""


def topics_to_name(path: Path, model: str, *, every: bool, replace: bool) -> list[TopicRow]:
    """The topics that are to get names, the largest first, with as many words as a snapshot has.

    ``every``: also those that are not in use, and hidden ones; ``replace``: also those that have
    given names.
    """
    from wikitopics.model.online import IN_USE

    with SessionReader(path) as reader:
        named = {} if replace else reader.names_given(model)
        rows = [
            row
            for row in reader.topics(model, SNAPSHOT_WORDS)
            if row.topic not in named and (every or (row.share > IN_USE and not row.hidden))
        ]
    return sorted(rows, key=lambda row: -row.share)


def name_topics(
    path: Path,
    model: str,
    rows: Iterable[TopicRow],
    suggest: Callable[[TopicRow], str],
    *,
    replace: bool,
) -> Iterator[tuple[TopicRow, str]]:
    """Give topics the names that are suggested, and yield each topic with its new name; with "" if
    it keeps its name, since none is suggested.

    Without ``replace``, topics that have been named meanwhile are left out. Works beside a trainer.
    Raises what ``suggest`` and `rename` raise; the names given so far stay.
    """
    for row in rows:
        if not replace:
            with SessionReader(path) as reader:
                is_named = row.topic in reader.names_given(model)
            if is_named:
                continue
        suggestion = suggest(row)
        new_name = rename(path, model, row.topic, suggestion) if suggestion else ""
        yield row, new_name


def hide_topics(path: Path, model: str, topics: Sequence[int], hidden: bool) -> None:
    """Have every list leave out these topics from now on, or include them again.

    Works beside a trainer. Raises `BadUsage` if there is no such topic, and `SessionError`.
    """
    with SessionReader(path) as reader:
        for topic in topics:
            reader.check_topic(model, topic)
        number = reader.models().index(model)
    hide(path, number, topics, hidden)


def suggested(path: Path, command: str, question: Mapping[str, object], signals: Signals) -> str:
    """The name that the user's command gives a topic: the first line that it prints; "" if it
    prints none.

    The command gets one JSON object on its standard input, the ``question``: the topic's number,
    its words, and the titles of its articles. Raises `SessionError` if it fails, takes over
    `PATIENCE` seconds, or prints what cannot be a name, and KeyboardInterrupt when a signal is
    recorded. Its process group is then ended.
    """

    def failed(why: str) -> SessionError:
        return SessionError(f"topic {question['number']} has no new name: --command {why}")

    # With files, a command that does not read breaks no pipe, and one left in the background keeps
    # none open.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout:
        stdin.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
        stdin.seek(0)
        try:
            process = start_command(command, path, stdin=stdin, stdout=stdout)
        except (OSError, ValueError) as error:
            raise failed(f"cannot be run: {error}") from None
        until = time.monotonic() + PATIENCE
        try:
            while signals.wait(process, 0.1) is None:
                if signals.noted:
                    raise KeyboardInterrupt
                if time.monotonic() > until:
                    raise failed(f"took over {PATIENCE:.0f} s and was killed")
                if os.fstat(stdout.fileno()).st_size > MOST_PRINTED:
                    raise failed(f"printed over {MOST_PRINTED >> 20} MB and was killed")
            if process.returncode:
                raise failed(f"failed with code {process.returncode}")
        except BaseException:
            kill_group(process)
            raise
        stdout.seek(0)
        answer = stdout.readline(MOST_ANSWER).removesuffix(b"\n")
    try:
        name = answer.decode()
        return topic_name(name)
    except UnicodeDecodeError:
        raise failed("printed text that is not UTF-8") from None
    except BadUsage as error:
        raise failed(f"printed {name[:LONGEST_NAME]!r}, but {error}") from None
