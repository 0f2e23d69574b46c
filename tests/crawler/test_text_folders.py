"""People's own documents in folders: which files are read, and what cannot be."""

import gzip
import lzma
import os
import sys
from pathlib import Path

import pytest

from tests.crawler.dumps import write
from tests.crawler.text_files import read, read_pages
from wikitopics.crawler.errors import BadSource


def test_a_folder_of_texts(tmp_path):
    for name in (
        "b.txt",
        "a/z.txt",
        "a/k.TXT",
        "c/deep/er.txt",
        ".hidden.txt",
        ".git/x.txt",
        "data.json",
    ):
        write(tmp_path / "docs" / name, f"text of {name}")
    write(tmp_path / "docs" / "d.txt.gz", gzip.compress(b"packed"))
    pages, skips, messages = read(str(tmp_path / "docs"))
    assert [(page.page_id, page.title, page.text) for page in pages] == [
        (1, "a/k.TXT", "text of a/k.TXT"),
        (2, "a/z.txt", "text of a/z.txt"),
        (3, "b.txt", "text of b.txt"),
        (4, "c/deep/er.txt", "text of c/deep/er.txt"),
        (5, "d.txt.gz", "packed"),
    ]
    assert skips == {}
    assert messages == []
    (single,) = read_pages(str(tmp_path / "docs" / "b.txt"))
    assert (single.title, single.id) == ("text of b.txt", "")


def test_bad_files_of_a_folder_are_named_counted_and_skipped(tmp_path):
    folder = tmp_path / "docs"
    write(folder / "good.txt", "\ufeffgood")
    write(folder / "empty.txt", "")
    write(folder / "latin.txt", "é".encode("latin-1"))
    whole = gzip.compress(b"text" * 999)
    write(folder / "cut.txt.gz", whole[:-9])
    over_32_mb = b"x" * ((32 << 20) + 1)
    write(folder / "large.txt.xz", lzma.compress(over_32_mb))
    os.mkfifo(folder / "pipe.txt")
    (folder / "gone.txt").symlink_to("nowhere")
    (folder / "self.txt").symlink_to("self.txt")
    pages, skips, messages = read(str(folder))
    # Files are read by name: cut, empty, gone, good.
    assert [(page.page_id, page.text) for page in pages] == [(4, "good")]
    damaged = ("cut", "gone", "pipe", "self")
    assert skips == {"no text": 1, "not UTF-8": 1, "too large": 1, "damaged": len(damaged)}
    paths = [message.partition(":")[0] for message in messages]
    assert paths == [
        f"{folder}/cut.txt.gz",
        f"{folder}/empty.txt",
        f"{folder}/gone.txt",
        f"{folder}/large.txt.xz",
        f"{folder}/latin.txt",
        f"{folder}/pipe.txt",
        f"{folder}/self.txt",
    ]


def test_folders_that_cannot_be_read_or_vanish_are_told_and_left_out(tmp_path, monkeypatch):
    """The folders are made unreadable by a stand-in for `os.scandir`, since root may read every
    folder."""
    docs = tmp_path / "docs"
    for name in ("a", "shut"):
        write(docs / name / "x.txt", "text")
    gone = docs / "b"
    gone.mkdir()
    shut = {docs / "shut"}
    real_scandir = os.scandir

    def scandir(path):
        if Path(path) in shut:
            raise PermissionError(13, "Permission denied")
        if Path(path) == docs / "a":
            gone.rmdir()  # it vanishes while its neighbour is read
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    pages, _, messages = read(str(docs))
    assert [page.title for page in pages] == ["a/x.txt"]
    assert messages == [
        f"{gone}: No such file or directory; this folder is skipped",
        f"{docs}/shut: Permission denied; this folder is skipped",
    ]
    shut.add(docs)
    with pytest.raises(BadSource, match=r"docs: Permission denied$"):
        read(str(docs))


def test_links_that_go_round_in_circles_are_told_and_left_out(tmp_path):
    write(tmp_path / "docs" / "a" / "x.txt", "text")
    (tmp_path / "docs" / "a" / "loop").symlink_to("..")
    (tmp_path / "docs" / "twin").symlink_to("a")
    (tmp_path / "docs" / "self").symlink_to("self")  # no folder and no .txt: nobody's text
    pages, skips, messages = read(str(tmp_path / "docs"))
    assert [page.title for page in pages] == ["a/x.txt"]
    assert not skips
    assert len(messages) == 2
    for message in messages:
        assert message.partition(": ")[2] == "a link to a folder already read; skipped"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's file systems are Linux's")
def test_no_link_leads_into_the_kernels_file_systems(tmp_path, monkeypatch):
    folder = tmp_path / "docs"
    write(folder / "x.txt", "text")
    write(tmp_path / "elsewhere" / "y.txt", "text")
    (folder / "other").symlink_to(tmp_path / "elsewhere")
    (folder / "kernel.txt").symlink_to("/proc/version")
    links_to_folders = {
        "dev": "/dev",
        "proc": "/proc",
        "sys": "/sys",
        "self": "/proc/self/task",
        "fs": "/sys/fs/cgroup",
    }
    for name, target in links_to_folders.items():
        (folder / name).symlink_to(target)
    walked = []
    real_scandir = os.scandir

    def scandir(path):
        walked.append(str(path))
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    pages, skips, messages = read(str(folder))
    assert [page.title for page in pages] == ["other/y.txt", "x.txt"]
    assert not skips
    assert walked == [str(folder), str(folder / "other")]
    names = sorted([*links_to_folders, "kernel.txt"])
    assert sorted(messages) == [
        f"{folder}/{name}: a link into a kernel file system; skipped" for name in names
    ]
    with pytest.raises(BadSource, match="/proc/self: a kernel file system"):
        read("/proc/self")
