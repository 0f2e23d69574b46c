"""Folders of texts that cannot be read, vanish, or go round in circles."""

import os
import sys
from pathlib import Path

import pytest

from tests.crawler.dumps import write
from tests.crawler.texts import read
from wikitopics.crawler.source import BadSource


def test_folders_that_cannot_be_read_or_vanish_are_told_and_left_out(tmp_path, monkeypatch):
    """Whoever runs it: root reads every folder."""
    docs = tmp_path / "docs"
    for name in ("a", "shut"):
        write(docs / name / "x.txt", "text")
    gone, shut, real = docs / "b", {docs / "shut"}, os.scandir
    gone.mkdir()

    def scandir(path):
        if Path(path) in shut:
            raise PermissionError(13, "Permission denied")
        if Path(path) == docs / "a":
            gone.rmdir()
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    pages, _, told = read(str(docs))
    assert [p.title for p in pages] == ["a/x.txt"]
    assert told == [
        f"{gone}: No such file or directory; this folder is left out",
        f"{docs}/shut: Permission denied; this folder is left out",
    ]
    shut.add(docs)
    with pytest.raises(BadSource, match=r"docs: Permission denied$"):
        read(str(docs))


def test_links_that_go_round_in_circles_are_told_and_left_out(tmp_path):
    write(tmp_path / "docs" / "a" / "x.txt", "text")
    (tmp_path / "docs" / "a" / "loop").symlink_to("..")
    (tmp_path / "docs" / "twin").symlink_to("a")
    (tmp_path / "docs" / "self").symlink_to("self")  # no folder and no .txt: nobody's text
    pages, skips, told = read(str(tmp_path / "docs"))
    assert [p.title for p in pages] == ["a/x.txt"]
    assert not skips
    assert [line.partition(": ")[2] for line in told] == ["a link to a folder already read; left out"] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's file systems are Linux's")
def test_no_link_leads_into_the_kernels_file_systems(tmp_path, monkeypatch):
    folder, walked, real = tmp_path / "docs", [], os.scandir
    write(folder / "x.txt", "text")
    write(tmp_path / "elsewhere" / "y.txt", "text")
    (folder / "other").symlink_to(tmp_path / "elsewhere")
    (folder / "kernel.txt").symlink_to("/proc/version")
    into = {
        "dev": "/dev",
        "proc": "/proc",
        "sys": "/sys",
        "self": "/proc/self/task",
        "types": "/sys/fs/cgroup",
    }
    for name, target in into.items():
        (folder / name).symlink_to(target)
    monkeypatch.setattr(os, "scandir", lambda path: [walked.append(str(path)), real(path)][1])
    pages, skips, told = read(str(folder))
    assert [p.title for p in pages] == ["other/y.txt", "x.txt"]
    assert not skips
    assert walked == [str(folder), str(folder / "other")]
    assert sorted(told) == [
        f"{folder}/{name}: a link into a kernel file system; skipped"
        for name in sorted([*into, "kernel.txt"])
    ]
    with pytest.raises(BadSource, match="/proc/self: a kernel file system"):
        read("/proc/self")
