"""Counts files: the good, and every bad one in a line; a small one cannot take all memory."""

import contextlib
import csv
import io
import os
import sqlite3
import zipfile
from struct import pack

import numpy as np
import pytest

from tests.session.archives import npz
from tests.session.rows import documents, largest
from wikitopics.session.errors import BadUsage
from wikitopics.session.storage.articles import insert_articles, renew_topics
from wikitopics.session.storage.database import VERSION, script
from wikitopics.session.training.counts_file import CountsFile

GOOD = {
    "indptr": np.array([0, 2, 2, 3]),
    "word_ids": np.array([1, 4, 0]),
    "counts": np.array([1, 2, 3]),
}
GOOD |= {"n_words": np.array(5)}


@pytest.fixture
def counts_file():
    with contextlib.ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(
            contextlib.closing(CountsFile(*args, **options))
        )


def write(path, **changes):
    arrays = {key: value for key, value in (GOOD | changes).items() if value is not None}
    np.savez(path, **arrays)
    return path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, np.uint64, np.float16, np.float32, np.float64]
)
def test_any_whole_numbers_are_taken(counts_file, tmp_path, dtype):
    changes = {name: GOOD[name].astype(dtype) for name in ("indptr", "word_ids", "counts")}
    file = counts_file(write(tmp_path / "c.npz", **changes), 5)
    documents = file.documents(0, 99)
    assert len(documents) == 3
    assert (documents.words.tolist(), documents.page_ids.tolist()) == ([3, 0, 3], [0, 1, 2])
    assert documents.word_ids.dtype == documents.counts.dtype == np.int32


def test_the_checksum_names_the_content_compressed_or_not(counts_file, tmp_path):
    one = counts_file(write(tmp_path / "a.npz"), 5).identity["checksum"]
    other = counts_file(write(tmp_path / "b.npz", counts=GOOD["counts"].astype(np.float64)), 5)
    third = counts_file(write(tmp_path / "c.npz", counts=np.array([1, 2, 4])), 5)
    assert one == other.identity["checksum"] != third.identity["checksum"]
    one = counts_file(write(tmp_path / "a.npz"), 5)
    (tmp_path / "b.npz").write_bytes(npz(GOOD, np.savez_compressed))
    other = counts_file(tmp_path / "b.npz", 5)
    assert one.identity == other.identity
    assert one.documents(1, 3).to_bytes() == other.documents(1, 3).to_bytes()


def test_a_file_known_before_is_not_read_through_again(counts_file, tmp_path):
    many = np.full(50_000, 3)
    path = write(tmp_path / "a.npz", indptr=np.arange(50_001), word_ids=many, counts=many)
    first = counts_file(path, 5)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(many.tobytes()) + 8 * 40_000] = 99
    path.write_bytes(damaged)
    with pytest.raises(BadUsage, match="damaged"):
        counts_file(path, 5)
    again = counts_file(path, 5, known=first.identity)
    assert again.identity == first.identity
    with pytest.raises(BadUsage, match="from 0 to 4"):  # what is read is checked all the same
        again.documents(39_999, 40_002)
    assert again.documents(40_001, 40_002).word_ids.tolist() == [3]


def test_a_file_of_which_a_damaged_session_knows_only_a_part_is_read_through(counts_file, tmp_path):
    path = write(tmp_path / "a.npz")
    whole = counts_file(path, 5).identity
    assert counts_file(path, 5, known={"crc": whole["crc"]}).identity == whole


def test_another_file_in_its_place_is_read_through(counts_file, tmp_path):
    first = counts_file(write(tmp_path / "a.npz"), 5)
    other = counts_file(
        write(tmp_path / "a.npz", counts=np.array([1, 2, 4])), 5, known=first.identity
    )
    assert other.identity != first.identity
    with pytest.raises(BadUsage, match="from 0 to 4"):
        counts_file(
            write(tmp_path / "a.npz", word_ids=np.array([1, 5, 0])), 5, known=first.identity
        )


def test_a_file_that_is_removed_is_read_on_and_one_that_is_cut_short_is_one_line(
    counts_file, tmp_path
):
    file = counts_file(write(tmp_path / "a.npz"), 5)
    (tmp_path / "a.npz").unlink()
    assert file.documents(0, 3).counts.tolist() == [1, 2, 3]
    file.close()
    path = write(tmp_path / "a.npz")
    file = counts_file(path, 5)
    os.truncate(path, 400)
    with pytest.raises(BadUsage, match="has shrunk"):
        file.documents(0, 3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"n_words": np.array(6)}, "counts 6 words, but the vocabulary has 5"),
        ({"n_words": np.array([5, 5])}, "n_words must be one number"),
        ({"n_words": np.array("x")}, "n_words"),
        ({"n_words": np.array(5.5)}, "n_words must be whole"),
        ({"counts": None}, "lacks the array 'counts'"),
        ({"counts": np.array([1, 0, 3])}, "counts must be from 1"),
        ({"counts": np.array([1.5, 2, 3])}, "counts must be whole"),
        *(({"counts": np.array([1, value, 3])}, "out of range") for value in (np.nan, 2**31)),
        ({"counts": np.array([1, 2**64 - 1, 3], np.uint64)}, "out of range"),
        ({"counts": np.array([1, 2, 2**31], np.float32)}, "out of range"),
        ({"indptr": np.array([0, 2, 2, 2.0**63])}, "out of range"),
        ({"counts": np.array([1, 2])}, "differ in length"),
        *(
            ({"counts": np.array(odd)}, "one row of whole")
            for odd in ([[1, 2, 3]], ["a", "b", "c"], [True] * 3)
        ),
        *(({"word_ids": np.array(ids)}, "from 0 to 4") for ids in ([1, 5, 0], [-1, 4, 0])),
        ({"word_ids": np.array([1, 4.5, 0])}, "word_ids must be whole"),
        *(
            ({"indptr": np.array(n)}, "indptr must rise")
            for n in ([0, 3, 2, 3], [1, 2, 2, 3], [0, 2, 2, 4])
        ),
        ({"indptr": np.array([], np.int64)}, "indptr must rise"),
        ({"indptr": np.array(None, dtype=object)}, "not an .npz file"),
    ],
)
def test_a_bad_array_is_named(counts_file, tmp_path, changes, says):
    with pytest.raises(BadUsage, match=says) as caught:
        counts_file(write(tmp_path / "c.npz", **changes), 5)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_words_in_any_order_and_twice_are_the_same_document(tmp_path, cli):
    vocabulary = tmp_path / "v.txt"
    vocabulary.write_text("aa\nbb\ncc\ndd\nee\n")
    documents = {
        "tidy": {"indptr": [0, 2, 4], "word_ids": [0, 3, 1, 2], "counts": [2, 1, 1, 1]},
        "untidy": {"indptr": [0, 3, 5], "word_ids": [3, 0, 0, 2, 1], "counts": [1] * 5},
    }
    found = []
    for name, arrays in documents.items():
        counts = write(tmp_path / f"{name}.npz", **arrays)
        session = tmp_path / f"{name}.db"
        cli.ok(
            "train",
            "--counts",
            counts,
            "--vocab",
            vocabulary,
            "--topics",
            2,
            "--session",
            session,
        )
        found.append(cli("export", "topics", "--session", session).out)
    assert found[0] == found[1]


ODD = ["covid19", "new_york", "New York", "=1+1", "2024", "c++"]


def test_words_that_were_counted_elsewhere_need_no_rule(tmp_path, cli, one_line, home):
    words = tmp_path / "v.txt"
    counts = tmp_path / "c.npz"
    words.write_text("\n".join([*ODD, "river", "hill"]) + "\n")
    ids = np.random.default_rng(0).integers(0, 8, (80, 6))
    sizes = np.arange(81) * 6
    np.savez(counts, indptr=sizes, word_ids=ids.ravel(), counts=np.ones(480, np.int64), n_words=8)
    train = (
        "train",
        "--counts",
        counts,
        "--topics",
        2,
        "--passes",
        1,
        "--keep-counts",
        "--vocab",
        words,
    )
    assert cli(*train, "--articles", 40).code == 0
    assert cli(*train).code == 0
    assert cli("vocab", "show", "--session", "default").out == words.read_text()
    exported = list(csv.DictReader(io.StringIO(cli("export", "topics").out)))
    assert {row["word"].removeprefix("'") for row in exported} == {*ODD, "river", "hill"}
    for command in (
        ["topics", "--all"],
        ["topics", "--json"],
        ["export", "words"],
        ["history"],
        ["status"],
    ):
        assert cli(*command).code == 0
    assert cli("export", "model", "-o", tmp_path / "m.npz").code == 0
    text = tmp_path / "essay.txt"
    text.write_text("A river of covid19 in new_york, 2024")
    assert cli.json("infer", text)[0]["known"] == 1
    text.write_text("covid19")
    one_line(cli("infer", text), 1, "contains no word of the session's vocabulary")
    kept = "train", "--counts", home / "default.db", "--topics", 2, "--session"
    assert cli(*kept, "kept").code == cli(*kept, "named", "--vocab", words).code == 0
    for lines, says in (
        (["a", "b", "a"], "line 3: 'a' repeats line 1"),
        (["a", "", "b"], "line 2: blank"),
        (["a", "b\tc"], "line 2: 'b\\tc' has a character that cannot be printed"),
    ):
        words.write_text("\n".join(lines))
        one_line(cli("train", "--counts", counts, "--vocab", words, "--session", "other"), 2, says)
    words.write_text("\n".join(ODD))
    other = cli("train", "--texts", text, "--vocab", words, "--session", "other")
    one_line(other, 2, "can never match a word")


def giant():
    """A good file whose row ``counts`` says that it has 2**60 entries."""
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1152921504606846976,), }"
    return odd_header(header.ljust(117) + b"\n")


def bomb(compression, header):
    """A gigabyte, said to be the row ``counts``, that takes a megabyte on the disk."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in GOOD.items():
            if name != "counts":
                with archive.open(f"{name}.npy", "w") as member:
                    np.save(member, array)
        archive.writestr("counts.npy", header + bytes(2**24), compression, 1)
        archive.getinfo("counts.npy").file_size = (
            2**30
        )  # so says the directory, and nobody is to try
    return buffer.getvalue()


def broken_inside():
    data = bytearray(npz(GOOD, np.savez_compressed))
    data[60:90] = b"\xff" * 30
    return bytes(data)


def odd_header(text):
    """An array whose header is ``text``."""
    buffer = io.BytesIO(npz(GOOD))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(
            "counts.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        )
    return buffer.getvalue()


def odd_member(offset, value):
    """A good file with one more member, of which the directory says something strange."""
    data = bytearray(npz({**GOOD, "more": np.arange(9)}))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + offset : entry + offset + len(value)] = value
    return bytes(data)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(npz(GOOD, np.savez_compressed)[:-40], id="cut"),
        pytest.param(giant(), id="giant"),
        pytest.param(broken_inside(), id="broken"),
        pytest.param(npz(GOOD | {"counts": np.array([{}])}), id="pickle"),
        pytest.param(odd_header(b"(" * 4000), id="header-unclosed"),
        pytest.param(odd_member(8, b"\x01"), id="encrypted"),
        pytest.param(odd_member(10, b"\x63"), id="unknown-compression"),
        pytest.param(odd_member(20, b"\xff\xff\x00\x00\xff\xff\x00\x00"), id="beyond-the-end"),
    ],
)
def test_what_is_no_counts_file_is_one_line(counts_file, tmp_path, content):
    path = tmp_path / "c.npz"
    path.write_bytes(content)
    with pytest.raises(BadUsage, match=r"not an \.npz file of word counts"):
        counts_file(path, 5)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(
            lambda: bomb(zipfile.ZIP_DEFLATED, b""),
            "over 512 MB of compressed arrays",
            id="unpacked",
        ),
        pytest.param(
            lambda: bomb(zipfile.ZIP_LZMA, b""), "not an .npz file", id="another-compression"
        ),
        pytest.param(
            lambda: bomb(zipfile.ZIP_STORED, b"\x93NUMPY\x02\x00" + (2**23).to_bytes(4, "little")),
            "not an .npz file",
            id="header",
        ),
        pytest.param(
            lambda: npz(GOOD | {str(i): GOOD["counts"] for i in range(1500)}, np.savez_compressed),
            "too many arrays",
            id="many",
        ),
    ],
)
def test_what_would_take_all_memory_is_never_unpacked(
    counts_file,
    tmp_path,
    monkeypatch,
    make,
    says,
):
    path = tmp_path / "c.npz"
    path.write_bytes(make())
    read = zipfile.ZipExtFile.read

    def bounded(self, n=-1):
        """Nothing large is asked of an archive's members."""
        assert n is not None
        assert 0 <= n < 2**22
        return read(self, n)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", bounded)
    with pytest.raises(BadUsage, match=says):
        counts_file(path, 5)


def test_more_documents_than_memory_has_room_for_are_refused(counts_file, tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.counts_file.MOST_DOCUMENTS", 2)
    with pytest.raises(BadUsage, match="over 2 documents"):
        counts_file(write(tmp_path / "c.npz"), 5)


def test_a_folder_is_told(counts_file, tmp_path):
    with pytest.raises(BadUsage, match="folder"):
        counts_file(tmp_path, 5)


def write_lengths(path, lengths):
    """Documents with so many entries, all of the first of five words."""
    n = sum(lengths)
    arrays = {
        "indptr": np.cumsum([0, *lengths]),
        "word_ids": np.zeros(n, np.int8),
        "counts": np.ones(n, np.int8),
        "n_words": 5,
    }
    path.write_bytes(npz(arrays, np.savez_compressed))
    return path


def test_a_document_has_no_more_entries_than_there_are_words(counts_file, tmp_path):
    first = counts_file(write_lengths(tmp_path / "c.npz", [1, 5]), 5)
    assert first.documents(0, 2).words.tolist() == [1, 5]
    with pytest.raises(
        BadUsage, match="document 1 has 6 entries"
    ):  # though the file was known before
        counts_file(write_lengths(tmp_path / "c.npz", [1, 6]), 5, first.identity)
    long = write_lengths(tmp_path / "long.npz", [1, 5, 60_000_000])
    with pytest.raises(BadUsage, match=r"document 2 has 60,000,000 entries.*only 5 words"):
        counts_file(long, 5)


def test_a_minibatch_is_bounded(tmp_path, monkeypatch, cli):
    monkeypatch.setattr("wikitopics.session.training.counts_file.MOST_ENTRIES", 500)
    (tmp_path / "words.txt").write_text("aa\nbb\ncc\ndd\nee\n")
    counts = write_lengths(tmp_path / "c.npz", [5] * 2000)
    train = [
        "train",
        "--counts",
        counts,
        "--vocab",
        tmp_path / "words.txt",
        "--topics",
        2,
        "--held-out",
        10,
    ]
    outcome = cli(*train, "--batch-size", 1024)
    assert outcome.code == 2
    assert "entries, more than the 500" in outcome.err.splitlines()[-1]
    assert "--batch-size" in outcome.err.splitlines()[-1]
    assert cli(*train, "--batch-size", 32, "--passes", 1, "--session", "small").code == 0


def test_a_very_large_minibatch_is_trained(cli, corpus):
    cli.ok("train", *corpus.options(), "--topics", 3, "--batch-size", 1_000_000)
    assert cli.json("status")["articles"] > 600


def test_the_topics_of_a_very_large_minibatch_are_inferred_again():
    seqs = range(1, 100_003)
    db = sqlite3.connect(":memory:")
    db.executescript(script(f"schema-{VERSION}"))
    zeros = np.zeros(len(seqs), np.intp)
    insert_articles(db, documents(*seqs), "trained", largest((zeros, zeros + 0.5)), seqs)
    renew_topics(db, seqs, largest((zeros + 1, zeros + 0.75)))
    assert db.execute("SELECT DISTINCT topics FROM articles").fetchall() == [
        (pack(">HH", 1, 7500),)
    ]
    db.close()
