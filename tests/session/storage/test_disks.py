"""Sessions on disks that are read-only or full, and on file systems without locks or shared memory:
they are read where that is possible, and otherwise the true cause is told in a line."""

import contextlib
import errno
import fcntl
import json
import mmap
import os
import shutil
import subprocess
import sys

import pytest

from tests.commands import ROOT
from wikitopics.session.errors import SessionError
from wikitopics.session.file_systems import lack_of
from wikitopics.session.paths import BESIDE
from wikitopics.session.storage.database import connect
from wikitopics.session.system import TrainerLock, lock_path

COMMANDS = """
import contextlib, io, json, sys
from wikitopics.cli import run

for words in json.loads(sys.argv[1]):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    print(json.dumps([code, *said]), flush=True)
"""
NAMED = "named in the log"


@pytest.fixture
def killed(trained, tmp_path):
    """Copies into a folder a session whose trainer was killed: its last commit is in the log
    alone."""

    def copy(folder, endings):
        with contextlib.closing(connect(trained)) as db:
            db.execute("INSERT INTO given_names VALUES (0, 0, ?)", [NAMED])
            for ending in ("", *endings):
                shutil.copy(f"{trained}{ending}", folder / f"s.db{ending}")
                os.utime(folder / f"s.db{ending}", (0, 0))  # not only just now
        return folder / "s.db"

    return copy


def run_all(commands, before=(), **variables):
    """(code, output, messages) of each command, in one process, which ``before`` starts."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    given = [*before, sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(given, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def mounted(*steps):
    """The beginning of a command line that sees these mounts, which nobody else does."""
    return ("unshare", "-m", "sh", "-c", "; ".join(("set -e", *steps, 'exec "$@"')), "sh")


needs_mounts = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True
    ).returncode,
    reason="needs Linux, and root, to mount disks",
)
READING = [
    ["status"],
    ["topics", "--top", "3"],
    ["articles", "--topic", "0"],
    ["history"],
    ["export", "topics"],
    ["export", "metrics"],
    ["vocab", "show"],
    ["similar", "document 500"],
]
WRITING = [
    ["topics", "rename", "0", "birds"],
    ["topics", "hide", "0"],
    ["train"],
    ["sessions", "rm", "--yes"],
]


@needs_mounts
@pytest.mark.parametrize(
    "endings", [(), ("-wal",), ("-wal", "-shm")], ids=["", "log", "log and index"]
)
@pytest.mark.parametrize("way", ["remounted", "bound"])
def test_a_read_only_disk(killed, cli, tmp_path, way, endings):
    disk = tmp_path / "disk"
    files = tmp_path / "files"
    for folder in (disk, files):
        folder.mkdir()
    killed(files, endings)
    steps = {
        "remounted": (
            f"mount -t tmpfs none {disk}",
            f"cp -a {files}/. {disk}",
            f"mount -o remount,ro {disk}",
        ),
        "bound": (f"mount --bind {files} {disk}", f"mount -o remount,bind,ro {disk}"),
    }
    named = ["--session", str(disk / "s.db")]
    copies = [
        ["backup", str(tmp_path / "copy.db")],
        ["export", "model", "-o", str(tmp_path / "m.npz")],
    ]
    reads = [*READING, *copies]
    writes = [*WRITING, ["export", "topics", "-o", str(disk / "x.csv")]]
    writes.append(["backup", str(disk / "y.db")])
    commands = [[*words, *named] for words in (*reads, *writes)]
    found = run_all(commands, mounted(*steps[way]))
    assert len(found) == len(commands)
    for words, (code, _, err) in zip(commands[: len(reads)], found, strict=False):
        assert (code, "wikitopics: " in err) == (0, False), (words, err)
    if endings:
        assert NAMED in found[1][1]
    for words, (code, out, err) in zip(commands[len(reads) :], found[len(reads) :], strict=True):
        assert (code, out) == (1, ""), (words, err)
        assert err.count("\n") == 1
        assert "read-only file system" in err.lower(), (words, err)
    copied = cli.ok("topics", "--session", tmp_path / "copy.db")
    assert (NAMED in copied.out) == bool(endings)


@needs_mounts
def test_a_full_disk(killed, tmp_path):
    disk = tmp_path / "disk"
    files = tmp_path / "files"
    for folder in (disk, files):
        folder.mkdir()
    path = killed(files, ())
    size = sum(file.stat().st_size for file in files.iterdir()) // 1024 + 40
    full = f"dd if=/dev/zero of={disk}/rest bs=1k 2> /dev/null || true"
    steps = (f"mount -t tmpfs -o size={size}k none {disk}", f"cp -a {files}/. {disk}", full)
    named = ["--session", str(disk / path.name)]
    rename = ["topics", "rename", "0", "birds", *named]  # a trainer would wait until there is room
    writes, reads = run_all([rename, ["topics", *named]], mounted(*steps))
    assert reads[0] == 0, (reads, writes)
    assert writes[0] == 1
    assert writes[2] == f"wikitopics: the disk is full: {disk / path.name}\n"


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
static int lacks(int fd, const char *what) {
    const char *folder = getenv("LACKING"), *lack = getenv("LACKS");
    char link[64], path[4096];
    if (!folder || !lack || strcmp(lack, what)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return !strncmp(path, folder, strlen(folder));
}
#define REAL(type, name) static type; if (!real) real = dlsym(RTLD_NEXT, name)
#define FCNTL(name) int name(int fd, int what, ...) { \
    va_list rest; va_start(rest, what); void *given = va_arg(rest, void *); va_end(rest); \
    REAL(int (*real)(int, int, ...), #name); \
    int locks = what == F_SETLK || what == F_SETLKW || what == F_GETLK; \
    if (locks && lacks(fd, "fcntl")) { errno = ENOLCK; return -1; } \
    return real(fd, what, given); }
FCNTL(fcntl)
FCNTL(fcntl64)
int flock(int fd, int what) {
    REAL(int (*real)(int, int), "flock");
    if (lacks(fd, "flock")) { errno = ENOLCK; return -1; }
    return real(fd, what);
}
#define MMAP(name) void *name(void *at, size_t n, int prot, int flags, int fd, off_t from) { \
    REAL(void *(*real)(void *, size_t, int, int, int, off_t), #name); \
    if ((flags & MAP_SHARED) && fd >= 0 && lacks(fd, "mmap")) { errno = ENODEV; return MAP_FAILED; } \
    return real(at, n, prot, flags, fd, from); }
MMAP(mmap)
MMAP(mmap64)
"""
"""What the functions of a file system answer that lacks something, in one folder alone."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if sys.platform != "linux" or not shutil.which("gcc"):
        pytest.skip("needs Linux and gcc")
    source = tmp_path_factory.mktemp("shim") / "shim.c"
    source.write_text(SHIM)
    library = source.with_suffix(".so")
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.parametrize(
    ("lacks", "says", "reads", "writes"),
    [
        # SQLite tries for seconds to lock, so these are few.
        ("fcntl", "cannot lock parts of files (No locks available)", READING[:2], WRITING[:1]),
        ("mmap", "cannot share memory between programs (No such device)", READING, WRITING[:3]),
        ("flock", "cannot lock files (No locks available)", READING, WRITING[2:]),
    ],
)
def test_a_file_system_that_lacks_what_a_session_needs(
    shim,
    killed,
    corpus,
    tmp_path,
    lacks,
    says,
    reads,
    writes,
):
    folder = tmp_path / "share"
    folder.mkdir()
    path = killed(folder, ("-wal",))
    named = ["--session", str(path)]
    new = ["train", *corpus.options(), "--topics", "2", "--session", str(folder / "new.db")]
    commands = [[*words, *named] for words in (*reads, *writes)]
    lacking = {"LD_PRELOAD": str(shim), "LACKING": str(folder), "LACKS": lacks}
    *found, made, doctor = run_all(
        [*commands, new, ["doctor", "--offline"]], WIKITOPICS_HOME=str(folder), **lacking
    )
    for words, (code, _, err) in zip(commands[: len(reads)], found, strict=False):
        assert (code, "wikitopics: " in err) == (0, False), (words, err)
    assert NAMED in found[1][1]
    for words, (code, _, err) in zip(
        [*commands[len(reads) :], new], [*found[len(reads) :], made], strict=True
    ):
        assert code == 1, words
        assert err.count("\n") == 1
        assert says in err, (words, err)
    assert doctor[0] == 1
    assert f"it {says}, which a session needs" in doctor[1]
    assert not list(folder.glob("new*"))
    assert not list(folder.glob(".wikitopics*"))


def test_each_need_of_a_session_is_tried_and_nothing_is_left(tmp_path, monkeypatch):
    def refuses(*_, **__):
        raise OSError(errno.ENOSYS, "Function not implemented")

    assert lack_of(tmp_path) == ""
    needs = {
        "lock parts of files": (fcntl, "lockf"),
        "lock files": (fcntl, "flock"),
        "share memory between programs": (mmap, "mmap"),
        "flush files to the disk": (os, "fsync"),
        "replace a file by another one": (os, "replace"),
    }
    for what, (module, name) in needs.items():
        with monkeypatch.context() as patched:
            patched.setattr(module, name, refuses)
            assert lack_of(tmp_path) == f"{what} (Function not implemented)"
    assert list(tmp_path.iterdir()) == []


def test_a_trainer_without_locks_says_so_and_leaves_no_lock(tmp_path, monkeypatch):
    def refuses(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    path = tmp_path / "s.db"
    monkeypatch.setattr(fcntl, "flock", refuses)
    with (
        pytest.raises(SessionError, match="on a file system that cannot lock files"),
        TrainerLock(path),
    ):
        pass
    assert not lock_path(path).exists()
    assert not any(path.with_name(f"s.db{ending}").exists() for ending in BESIDE)
