"""The trainer of `train`: a process of its own, which is started, waited for and stopped."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wikitopics.crawler.errors import BadSource
from wikitopics.in_python.parameters import OPTIONS, in_python
from wikitopics.in_python.resuming import store_index
from wikitopics.session import control
from wikitopics.session.errors import BadUsage, NotNow, SessionError, SessionInUse
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.options import ON_END
from wikitopics.session.request import TrainRequest
from wikitopics.session.signals import Signals, acting_later
from wikitopics.session.system import in_use, owner, owner_pid
from wikitopics.vocab.vocabulary import VocabularyError

POLL_SECONDS = 0.3
"""Seconds after which the session is read again for its progress."""


@contextmanager
def attended(
    path: Path, files: InMemoryTexts, descriptor: int
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield a list to which the block adds the trainer that it starts: Ctrl+C stops that trainer,
    and the files are removed at the end unless a trainer still reads them. ``descriptor``: of the
    file of texts, which is held.

    Errors in the block are told in terms of the parameters of `train`, as ValueError or
    `SessionError`.
    """
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield started
    except KeyboardInterrupt:
        with acting_later() as signals:
            for process in started:
                process.terminate()
                signals.wait(process, control.STOP_SECONDS)
            control.forget(path)
        raise
    except (BadUsage, VocabularyError) as error:
        raise ValueError(in_python(str(error))) from None
    except (BadSource, SessionError) as error:
        raise SessionError(in_python(str(error))) from None
    finally:
        with acting_later():
            all_have_ended = all(process.poll() is not None for process in started)
            if all_have_ended and owner(path) is None:
                files.remove(descriptor)


def start(
    path: Path,
    request: TrainRequest,
    files: InMemoryTexts,
    descriptor: int,
    started: list[subprocess.Popen[bytes]],
) -> subprocess.Popen[bytes]:
    """Start the trainer, which keeps the file of texts open. Ctrl+C waits until it is in
    ``started``, and can be ended."""
    command = ["train", "--session", str(path), *_arguments(request, files)]
    with acting_later() as signals:
        process = control.start_trainer(path, command, [descriptor])
        started.append(process)
        _stop_if_terminated(process, signals)
    return process


def _arguments(request: TrainRequest, files: InMemoryTexts) -> Iterator[str]:
    """The words of the command line. The trainer, too, removes the files at its end, unless they
    are another trainer's."""
    for option in OPTIONS:
        if option in request:
            value = request[option]
            values = value if isinstance(value, tuple) else (value,)
            for each in values:
                yield option.flag if each is True else f"{option.flag}={each}"
    files_are_anothers = f'[ "$WIKITOPICS_EXIT_CODE" = {SessionInUse.exit_code} ]'
    remove = shlex.join(["rm", "-f", "--", *map(str, files)])
    # In a shell, what stands after || is run only if the test before it fails.
    yield f"{ON_END.flag}={files_are_anothers} || {remove}"


def wait(
    process: subprocess.Popen[bytes],
    path: Path,
    index: Mapping[str, object] | None,
    show: Callable[[], None],
) -> int:
    """Wait for the trainer, and show its progress; returns its exit code.

    ``index``: what is to be stored in a new session as soon as the trainer has created it.
    """
    to_store = index
    while True:
        with acting_later() as signals:
            code = signals.wait(process, POLL_SECONDS)
            _stop_if_terminated(process, signals)
            if to_store is not None and os.path.exists(path):
                try:
                    store_index(path, to_store)
                    to_store = None
                except NotNow:  # such as during a long commit of the trainer
                    if code is not None:
                        raise
            show()
        if code is not None:
            return code


def _stop_if_terminated(process: subprocess.Popen[bytes], signals: Signals) -> None:
    """Stop the trainer if SIGTERM is recorded, which ends this process without an exception."""
    if signal.SIGTERM in signals.noted:
        process.terminate()
        signals.wait(process, control.STOP_SECONDS, until=())


def check_ended(path: Path, code: int) -> None:
    """Raise ValueError or `SessionError` unless the trainer has ended as it should."""
    if code == 0:
        return
    if code == SessionInUse.exit_code:  # the log may be the running trainer's, so it is not read
        raise in_use(path, owner_pid(path) or 0)
    message = control.last_words(path)
    control.forget(path)
    if message and code == BadUsage.exit_code:
        raise ValueError(in_python(message))
    if not message or code < 0:
        message = f"the trainer was {control.death(code)}"
    raise SessionError(in_python(message))
