"""A disk that remembers every write and every flush, so that its power can be cut afterwards at any
of them.

A file served over FUSE holds an image; a loop device makes a disk of it. The kernel's writes and
flushes arrive here one after the other and are kept in a log, in that order. From the image as it
was before and the log follow all the states in which a power cut could have left the disk: see
`Log.state`.

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
"""An entry of the log: time, offset (`FLUSHED`: a flush), length; the bytes follow."""
FLUSHED = -1

# Of FUSE's protocol, as in Linux's include/uapi/linux/fuse.h.

REQUEST = struct.Struct("<IIQQIIIHH")
"""What a request begins with: length, kind, number, and fields that are not needed here."""
REPLY = struct.Struct("<IiQ")
"""What a reply begins with: length, error, the request's number."""
SPAN = struct.Struct("<QQIIQII")
"""What reads and writes begin with: handle, offset, size and four fields that are not needed
here."""
FORGET = 2
GETATTR = 3
OPEN = 14
READ = 15
WRITE = 16
RELEASE = 18
FSYNC = 20
FLUSH = 25
INIT = 26
BATCH_FORGET = 42
MAX_PAGES = 1 << 22
"""The flag that makes requests of more than 32 pages possible."""
ENOSYS = 38
"""The error of what a server does not know."""
NEW_MOUNTS = 0x20000
"""Linux's CLONE_NEWNS."""


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
    command = ["mount", "-t", "ext4"]
    if not image.is_block_device():
        command += ["-o", "loop"]
    run(*command, str(image), str(folder))
    try:
        yield folder
    finally:
        run("umount", str(folder))


@contextlib.contextmanager
def remembering(image: Path, log: Path, folder: Path) -> Iterator[Path]:
    """As `mounted`, and every write goes to ``log`` too. In the end ``image`` is as after a
    shutdown."""
    served = folder.with_name(folder.name + ".img")
    served.touch()
    log.write_bytes(b"")
    with contextlib.ExitStack() as ends:
        channel = os.open("/dev/fuse", os.O_RDWR)
        with contextlib.closing(os.fdopen(channel)):
            settings = f"fd={channel},rootmode=100000,user_id=0,group_id=0,max_read={LARGEST_WRITE}"
            mount = ["mount", "-i", "-t", "fuse", "-o", settings, "disk", str(served)]
            run(*mount, pass_fds=[channel])
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
    """Where its bytes are on the disk; `FLUSHED`: it is a flush."""
    length: int
    place_in_log: int
    """Where its bytes are in the log."""


class Log:
    """What was written to a disk, in order, while the log grew to ``size`` bytes."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.writes: list[Write] = []
        place = 0
        with path.open("rb") as file:
            while place + RECORD.size <= size:
                file.seek(place)
                written_at, offset, length = RECORD.unpack(file.read(RECORD.size))
                place += RECORD.size
                if place + length > size:
                    break
                self.writes.append(Write(written_at, offset, length, place))
                place += length

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
        last_flush = 0
        for number, entry in enumerate(entries):
            if entry.offset == FLUSHED:
                last_flush = number
        with self.path.open("rb") as log, target.open("r+b") as image:
            for number, entry in enumerate(entries):
                if entry.offset == FLUSHED:
                    continue
                log.seek(entry.place_in_log)
                data = log.read(entry.length)
                if number < last_flush or kept == 1:
                    image.seek(entry.offset)
                    image.write(data)
                    continue
                # The first sector may begin before the data, as the last may end behind them.
                first_sector = -(entry.offset % SECTOR)
                for sector in range(first_sector, entry.length, SECTOR):
                    if rng.random() < kept:
                        start = max(0, sector)
                        image.seek(entry.offset + start)
                        image.write(data[start : sector + SECTOR])


def _introduction() -> bytes:
    """The protocol's version 7.31, and what the kernel may ask for."""
    return struct.pack(
        "<IIIIHHIIHH8I",
        7,
        31,
        0,  # read ahead
        MAX_PAGES,
        16,  # requests in the background
        12,  # from how many the disk counts as busy
        LARGEST_WRITE,
        1,  # granularity of time in ns
        LARGEST_WRITE // 4096,  # pages of the largest write
        0,
        *[0] * 8,
    )


def _attributes(size: int) -> bytes:
    """Those of a file of this size that its owner may read and write."""
    valid_for = struct.pack("<QII", 0, 0, 0)
    return valid_for + struct.pack(
        "<6Q10I",
        1,  # inode
        size,
        size // 512,
        *[0] * 6,  # times
        0o100600,
        1,  # links
        *[0] * 3,  # owner, group and device
        4096,
        0,
    )


def serve(image: int, log: int, channel: int) -> None:
    """Answer the kernel until the file is unmounted."""
    size = os.fstat(image).st_size
    while True:
        try:
            request = os.read(channel, LARGEST_WRITE + 65536)
        except OSError:  # ENODEV: unmounted
            return
        _, kind, number, *_ = REQUEST.unpack_from(request)
        error = 0
        answer = b""
        if kind == INIT:
            answer = _introduction()
        elif kind == GETATTR:
            answer = _attributes(size)
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
