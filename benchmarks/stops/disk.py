"""A disk that remembers every write and every flush, so that its power can be cut afterwards at any
of them.

A file served over FUSE holds an image; a loop device makes a disk of it. The kernel's writes and
flushes arrive here one after the other and are kept in a log, in that order. From the image as it
was before and the log follow all the states in which a power cut could have left the disk: see
`state`.

The server runs in a process of its own, since the kernel waits for it.
"""

import contextlib
import ctypes
import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT, Unavailable

SECTOR = 4096
"""A sector is written whole or not at all, as today's disks do; ext4 relies on it for its
superblock."""
LARGEST_WRITE = 1 << 20
RECORD = struct.Struct("<dqI")
"""Time, offset (-1: a flush), length; the bytes follow."""
FLUSHED = -1

REQUEST = struct.Struct("<IIQQIIIHH")
REPLY = struct.Struct("<IiQ")
SPAN = struct.Struct("<QQIIQII")
"""What reads and writes begin with: handle, offset, size and four fields that are not needed
here."""
GETATTR = 3
OPEN = 14
READ = 15
WRITE = 16
RELEASE = 18
FSYNC = 20
FLUSH = 25
INIT = 26
BATCH_FORGET = 42
FORGET = 2
MAX_PAGES = 1 << 22
ENOSYS = 38
NEW_MOUNTS = 0x20000


def run(*command: str, **more: object) -> str:
    """What a command of the system prints; raises `Unavailable` where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is not installed") from None
    if done.returncode:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")
    return str(done.stdout).strip()


def prepare() -> None:
    """Let this process mount disks that no other process sees and that vanish with it, however it
    ends.

    Raises `Unavailable`, saying what is missing.
    """
    if not Path("/dev/fuse").exists() or not Path("/dev/loop-control").exists():
        raise Unavailable("it needs Linux with FUSE and loop devices")
    if os.geteuid() != 0:
        raise Unavailable("only root can mount a disk")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS):
        raise Unavailable(os.strerror(ctypes.get_errno()))
    run("mount", "--make-rprivate", "/")


@contextlib.contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    """The ext4 file system in ``image`` (or on a device), at ``folder`` until the block ends."""
    folder.mkdir(exist_ok=True)
    options = [] if image.is_block_device() else ["-o", "loop"]
    run("mount", "-t", "ext4", *options, str(image), str(folder))
    try:
        yield folder
    finally:
        run("umount", str(folder))


@contextlib.contextmanager
def remembering(image: Path, log: Path, folder: Path) -> Iterator[Path]:
    """The same, and every write to it goes to ``log`` too; ``image`` is as after a shutdown in the
    end."""
    served = folder.with_name(folder.name + ".img")
    served.touch()
    log.write_bytes(b"")
    with contextlib.ExitStack() as ends:
        channel = os.open("/dev/fuse", os.O_RDWR)
        with contextlib.closing(os.fdopen(channel)):
            settings = f"fd={channel},rootmode=100000,user_id=0,group_id=0,max_read={LARGEST_WRITE}"
            run(
                "mount",
                "-i",
                "-t",
                "fuse",
                "-o",
                settings,
                "disk",
                str(served),
                pass_fds=[channel],
            )
            server = subprocess.Popen(
                [sys.executable, "-m", __spec__.name, str(image), str(log), str(channel)],
                cwd=ROOT,
                pass_fds=[channel],
            )
        ends.callback(server.wait)
        ends.callback(server.terminate)
        ends.callback(run, "umount", str(served))
        device = run("losetup", "--find", "--show", str(served))
        ends.callback(run, "losetup", "--detach", device)
        yield ends.enter_context(mounted(Path(device), folder))


def blank(image: Path, size: int) -> None:
    """Make an image with an empty ext4 file system, everything as mkfs does it by itself."""
    with image.open("wb") as file:
        file.truncate(size)
    run("mkfs.ext4", "-q", "-F", str(image))


def copy(image: Path, target: Path) -> None:
    """Copy an image; what is empty takes no room."""
    run("cp", "--sparse=always", str(image), str(target))


@dataclass(frozen=True, slots=True)
class Write:
    """One entry of the log."""

    time: float
    offset: int
    length: int
    at: int
    """Where its bytes are in the log."""


class Log:
    """What was written to a disk, in order, while the log grew to ``size`` bytes."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.writes: list[Write] = []
        at = 0
        with path.open("rb") as file:
            while at + RECORD.size <= size:
                file.seek(at)
                written, offset, length = RECORD.unpack(file.read(RECORD.size))
                at += RECORD.size
                if at + length > size:
                    break
                self.writes.append(Write(written, offset, length, at))
                at += length

    def state(
        self,
        before: Path,
        target: Path,
        position: int,
        kept: float,
        rng: random.Random,
    ) -> None:
        """Make the image that a power cut after ``position`` entries leaves.

        Everything flushed is there. Of the later sectors a share ``kept``, drawn at random, is
        there too: a disk may write its cache in any order.
        """
        copy(before, target)
        entries = self.writes[:position]
        flushed = max((n for n, entry in enumerate(entries) if entry.offset == FLUSHED), default=0)
        with self.path.open("rb") as log, target.open("r+b") as image:
            for number, entry in enumerate(entries):
                if entry.offset == FLUSHED:
                    continue
                log.seek(entry.at)
                data = log.read(entry.length)
                if number < flushed or kept == 1:
                    image.seek(entry.offset)
                    image.write(data)
                    continue
                for start in range(-(entry.offset % SECTOR), entry.length, SECTOR):
                    if rng.random() < kept:
                        image.seek(entry.offset + max(0, start))
                        image.write(data[max(0, start) : start + SECTOR])


def serve(image: int, log: int, channel: int) -> None:
    """Answer the kernel until the file is unmounted."""
    size = os.fstat(image).st_size
    attributes = struct.pack("<QII", 0, 0, 0) + struct.pack(
        "<6Q10I",
        1,
        size,
        size // 512,
        0,
        0,
        0,
        0,
        0,
        0,
        0o100600,
        1,
        0,
        0,
        0,
        4096,
        0,
    )
    while True:
        try:
            request = os.read(channel, LARGEST_WRITE + 65536)
        except OSError:  # ENODEV: unmounted
            return
        _, kind, number, *_ = REQUEST.unpack_from(request)
        error = 0
        answer = b""
        if kind == INIT:
            flags = MAX_PAGES
            pages = LARGEST_WRITE // 4096
            answer = struct.pack(
                "<IIIIHHIIHHII6I",
                7,
                31,
                0,
                flags,
                16,
                12,
                LARGEST_WRITE,
                1,
                pages,
                *[0] * 9,
            )
        elif kind == GETATTR:
            answer = attributes
        elif kind == OPEN:
            answer = struct.pack("<QII", 0, 0, 0)
        elif kind == READ:
            _, offset, length, *_ = SPAN.unpack_from(request, REQUEST.size)
            answer = os.pread(image, length, offset)
        elif kind == WRITE:
            _, offset, length, *_ = SPAN.unpack_from(request, REQUEST.size)
            data = request[REQUEST.size + SPAN.size :]
            os.pwrite(image, data, offset)
            os.writev(log, [RECORD.pack(time.time(), offset, length), data])
            answer = struct.pack("<II", length, 0)
        elif kind == FSYNC:
            os.write(log, RECORD.pack(time.time(), FLUSHED, 0))
        elif kind in (FORGET, BATCH_FORGET):
            continue
        elif kind not in (FLUSH, RELEASE):
            error = -ENOSYS
        os.writev(channel, [REPLY.pack(REPLY.size + len(answer), error, number), answer])


if __name__ == "__main__":
    serve(
        os.open(sys.argv[1], os.O_RDWR),
        os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND),
        int(sys.argv[3]),
    )
