"""Giving a topic a name: by hand, or by a command that is asked for one."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.storage.decoding import LONGEST_NAME
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.tables.topics import give_name

PATIENCE = 30.0
"""The most seconds that a command may take for a name."""
MOST_ANSWER = 4096
"""Bytes in which the first line of its answer must end."""


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


def suggested(command: str, number: int, words: Sequence[str], titles: Sequence[str]) -> str:
    """The name that the user's command gives a topic: the first line of what it prints; "" for no line.

    The command gets one JSON object on its standard input. Raises `SessionError` if it fails, takes over
    `PATIENCE` seconds, or prints no text; its process group is then ended.
    """
    question = {"number": number, "words": list(words), "titles": list(titles)}
    with tempfile.TemporaryFile() as asked:  # a command that does not read it breaks no pipe
        asked.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
        asked.seek(0)
        try:
            process = subprocess.Popen(
                command, shell=True, stdin=asked, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise SessionError(f"--command cannot be run: {error}") from None
    with process:
        try:
            answer = _first_line(process)
        finally:
            with suppress(ProcessLookupError):  # nobody of its group is left
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise SessionError(f"topic {number} has no new name: --command failed with code {process.returncode}")
    try:
        return answer.decode().strip()
    except UnicodeDecodeError:
        raise SessionError(f"topic {number} has no new name: --command printed no UTF-8 text") from None


def _first_line(process: "subprocess.Popen[bytes]") -> bytes:
    """The first line that the process prints before it ends; what follows is dropped."""
    assert process.stdout is not None
    until, said = time.monotonic() + PATIENCE, b""
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise SessionError(f"--command took over {PATIENCE:.0f} s and was ended")
        if select.select([process.stdout], [], [], min(left, 0.1))[0]:
            more = os.read(process.stdout.fileno(), 65536)
            if not more:
                break
            if b"\n" not in said:
                said += more
                if len(said.partition(b"\n")[0]) > MOST_ANSWER:
                    raise SessionError(f"--command printed a line of over {MOST_ANSWER:,} bytes")
                said = said[: MOST_ANSWER + 1]
        elif process.poll() is not None:
            break  # something in the background holds its output open
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise SessionError(f"--command took over {PATIENCE:.0f} s and was ended") from None
    return said.partition(b"\n")[0]
