"""The counts that the session in `sessions/` was trained on, the same with every numpy."""

from pathlib import Path

import numpy as np

N_WORDS = 30
N_TOPICS = 3
DOCUMENTS = 66_600
LENGTH = 6
HELD_OUT = 100
KEPT_AT = 65_000
"""Articles trained when the session was put aside; the rest of the file follows."""
WORDS = tuple(f"{first}{second}" for first in "abcde" for second in "uvwxyz")
MODELS = ("lda:topics=3", "lda:name=learnt,topics=3,alpha=learn,eta=learn", "scvb0:topics=3", "hdp:topics=6")


def write_counts(folder: Path) -> list[str]:
    """Write `counts.npz` and `words.txt` into the folder; returns the options of `train` that read them.

    Documents of a few words, most of them from one of three topics. Only raw bits are drawn: what numpy's
    distributions make of them may change, the bits do not.
    """
    bits = np.random.PCG64(7).random_raw(DOCUMENTS * LENGTH).reshape(DOCUMENTS, LENGTH)
    topic = bits[:, :1] >> np.uint64(40) & np.uint64(3)
    own = topic % np.uint64(N_TOPICS) * np.uint64(10) + (bits >> np.uint64(8)) % np.uint64(10)
    words = np.where(bits % np.uint64(8) == 0, (bits >> np.uint64(16)) % np.uint64(N_WORDS), own)
    place = np.arange(DOCUMENTS)[:, None] * N_WORDS + words.astype(np.int64)
    entries, counts = np.unique(place, return_counts=True)
    indptr = np.searchsorted(entries, np.arange(DOCUMENTS + 1) * N_WORDS)
    file = folder / "counts.npz"
    np.savez(
        file,
        indptr=indptr.astype(np.int64),
        word_ids=(entries % N_WORDS).astype(np.int32),
        counts=counts.astype(np.int32),
        n_words=N_WORDS,
    )
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    return ["--source", "counts", "--counts", str(file), "--vocab", str(folder / "words.txt")]
