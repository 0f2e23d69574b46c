"""Giving a topic a name: by hand, or by a command that is asked for one."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.storage.decoding import LONGEST_NAME
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.tables.topics import give_name

PATIENCE = 30.0
"""The most seconds that a command may take for a name."""
MOST_ANSWER = 4096
"""Bytes in which the first line of its answer must end."""
MOST_PRINTED = 64 << 20
"""Bytes after which it is killed: what it prints is kept until then."""


def rename(path: Path, model: str, topic: int, name: str) -> str:
    """Name a topic ``name`` from now on, everywhere; an empty name restores the one made of its words.

    Works beside a trainer. Returns the topic's new name. Raises `BadUsage` if there is no such topic or the
    name cannot be shown in a line, and `SessionError` if the session has no topics yet.
    """
    with SessionReader(path) as reader:
        reader.check_topic(model, topic)
        reader.check_trained()
        number = reader.models().index(model)
    given = checked(name)
    give_name(path, number, topic, given or None)
    with SessionReader(path) as reader:
        return next(iter(reader.topic_names(model)[topic : topic + 1]), "")


def suggested(
    path: Path,
    command: str,
    number: int,
    words: Sequence[str],
    titles: Sequence[str],
    check: Callable[[], object],
) -> str:
    """The name that the user's command gives a topic: the first line of what it prints; "" for no line.

    The command gets one JSON object on its standard input. Raises `SessionError` if it fails, takes over
    `PATIENCE` seconds, or prints what cannot be a name, and what ``check``, called ten times a second,
    raises. Its process group is then ended.
    """
    question = {"number": number, "words": list(words), "titles": list(titles)}
    answer = ""
    try:
        answer = _answer(command, path, json.dumps(question, ensure_ascii=False).encode(), check).decode()
        return checked(answer)
    except UnicodeDecodeError:
        why = "printed text that is not UTF-8"
    except BadUsage as error:
        why = f"printed {answer[:LONGEST_NAME]!r}, but {error}"
    except _NoAnswer as error:
        why = str(error)
    raise SessionError(f"topic {number} has no new name: --command {why}")


class _NoAnswer(Exception):
    """What the command did instead of answering."""


def checked(name: str) -> str:
    """The name in one line. Raises `BadUsage` if it cannot be a topic's name."""
    given = " ".join(name.split())
    if len(given) > LONGEST_NAME or not given.isprintable():
        raise BadUsage(f"a topic's name must have 1 to {LONGEST_NAME} printable characters")
    return given


def _answer(command: str, path: Path, question: bytes, check: Callable[[], object]) -> bytes:
    """The first line that the command prints; what follows is dropped. Raises `_NoAnswer`."""
    # In files: a command that does not read breaks no pipe, and something in the background keeps none open.
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
        asked.write(question + b"\n")
        asked.seek(0)
        try:
            process = subprocess.Popen(
                command,
                shell=True,
                env={**os.environ, "WIKITOPICS_SESSION": str(path.absolute())},
                stdin=asked,
                stdout=said,
                start_new_session=True,  # so that the whole group can be killed
            )
        except (OSError, ValueError) as error:
            raise _NoAnswer(f"cannot be run: {error}") from None
        try:
            _await(process, said, check)
        except BaseException:
            with suppress(ProcessLookupError):  # nobody of its group is left
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        said.seek(0)
        answer = said.readline(MOST_ANSWER + 2).removesuffix(b"\n")
    if len(answer) > MOST_ANSWER:
        raise _NoAnswer(f"printed a line of over {MOST_ANSWER:,} bytes")
    return answer


def _await(process: "subprocess.Popen[bytes]", said: IO[bytes], check: Callable[[], object]) -> None:
    """Wait until the command ends. Raises `_NoAnswer` if it takes too long, prints too much, or fails."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None:
        check()
        if time.monotonic() > until:
            raise _NoAnswer(f"took over {PATIENCE:.0f} s and was killed")
        if os.fstat(said.fileno()).st_size > MOST_PRINTED:
            raise _NoAnswer(f"printed over {MOST_PRINTED >> 20} MB and was killed")
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    if process.returncode:
        raise _NoAnswer(f"failed with code {process.returncode}")
