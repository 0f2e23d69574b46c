"""Paths: the session folder, the config file, the log beside a session."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import platformdirs

from wikitopics.session.errors import BadUsage, NoSession, SessionError, did_you_mean

DEFAULT_SESSION = "default"
"""The name of the session that is meant if none is named."""
DEMO_SESSION = "demo"
"""The name of the demo's session."""
WAL = "-wal"
SHM = "-shm"
BESIDE = ("-journal", WAL, SHM)
"""The endings of the files that SQLite keeps beside a session."""
LOCK = ".lock"
LONGEST_PATH = 460
"""In bytes. SQLite's own limit is 512, and it also holds for the longer names of the files that
SQLite keeps beside a session."""
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


def session_folder() -> Path:
    """`$WIKITOPICS_HOME`, otherwise the platform's user data directory. Not created here."""
    home = os.environ.get("WIKITOPICS_HOME")
    if home:
        return user_path(home)
    return Path(platformdirs.user_data_dir("wikitopics", appauthor=False))


def vocabulary_file(name: str) -> Path:
    """The file of a vocabulary of this name that was built for a session."""
    return session_folder() / "vocabularies" / f"{name}.txt"


def config_file() -> Path:
    """The one file with the user's own settings: the contact, key bindings, the theme."""
    home = os.environ.get("WIKITOPICS_HOME")
    if home:
        return user_path(home) / "config.toml"
    return Path(platformdirs.user_config_dir("wikitopics", appauthor=False)) / "config.toml"


def user_path(name: str) -> Path:
    """A path as given by the user, with `~` and `~user` resolved. Raises `BadUsage` for an unknown
    user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise BadUsage(f"{name}: no such user") from None


def session_path(name: str) -> Path:
    """The file of a session: NAME in the session folder, or NAME itself if it is a path. Raises
    `BadUsage`."""
    if "\0" in name:
        raise BadUsage("a session name cannot contain a NUL character")
    if "/" in name or name.endswith(".db"):
        if name.lower().endswith((*BESIDE, LOCK)):
            raise BadUsage(f"{name} names a part of a session: a session's name ends in .db")
        path = user_path(name).absolute()
        check_length(path)
        return path
    return named_session(name)


def check_length(path: Path) -> None:
    """Raise `BadUsage` for a path that SQLite does not open."""
    length = len(os.fsencode(path.absolute()))
    if length > LONGEST_PATH:
        raise BadUsage(
            f"{path}: a path of {length} bytes; SQLite opens only those of up to {LONGEST_PATH}"
        )


def is_session_name(name: str) -> bool:
    """Whether a session in the session folder can have this name."""
    return bool(_NAME.fullmatch(name)) and not name.endswith(".db")


def named_session(name: str) -> Path:
    """The file in the session folder of a session of this name.

    Raises `BadUsage` for a name that could leave the folder or is awkward in a shell.
    """
    if not is_session_name(name):
        raise BadUsage(
            f"{name!r} is not a session name: use letters, digits, '.', '_' and '-', not starting "
            "with a dot (for a session elsewhere, give a path with a '/')"
        )
    path = session_folder() / f"{name}.db"
    check_length(path)
    return path


def beside(path: Path, ending: str) -> Path:
    """The file beside the session at ``path`` whose name has this ending; links are followed."""
    # SQLite follows links too. Even "/", which has no name, has something beside it.
    return Path(os.path.realpath(path) + ending)


def is_at(path: Path, opened: os.stat_result) -> bool:
    """Whether the opened file is still the one at ``path``."""
    try:
        return os.path.samestat(os.stat(path), opened)
    except OSError:
        return False


def session_name(path: Path) -> str:
    """The name of the session at ``path`` if it lies in the folder, otherwise the path."""
    return path.stem if path.parent == session_folder() and path.suffix == ".db" else str(path)


def command(words: str, path: Path) -> str:
    """The shell command for the session at ``path``, e.g. `wikitopics stop --session night`.

    ``words`` come after `wikitopics`; "" opens the screen.
    """
    program = "wikitopics"
    called = sys.argv[0]
    if os.path.basename(called) == program and shutil.which(program) is None:
        program = shlex.quote(called)  # it is not on the PATH
    line = f"{program} {words}".rstrip()
    name = session_name(path)
    default = DEMO_SESSION if words.startswith("demo") else DEFAULT_SESSION
    # `vocab show` without a session means the vocabulary that comes with the program.
    if name == default and not words.startswith("vocab"):
        return line
    return f"{line} --session {shlex.quote(name)}"


def log_file(path: Path) -> Path:
    """The file to which a trainer started by the screen writes its messages."""
    return path.with_name(path.name + ".log")


def no_session(path: Path) -> SessionError:
    """The error for a session that does not exist, with a hint at what a user who gave no name, or
    a wrong one, may have meant."""
    if path.parent.is_dir() and not os.access(path.parent, os.X_OK):
        return SessionError(f"{path.parent}: Permission denied")
    message = f"there is no session at {path}"
    names = sorted(file.stem for file in path.parent.glob("[!.]*.db"))
    if path.parent != session_folder() or not names:
        return NoSession(message, ": `wikitopics train` or `wikitopics demo` creates one")
    if names == [DEMO_SESSION]:
        advice = f"; to use it, add `--session {DEMO_SESSION}`"
        return NoSession(f"{message}: only the demo has one", advice)
    hint = did_you_mean(path.stem, names)
    return NoSession(f"{message}. {hint}", " (`--session NAME` chooses one)")
