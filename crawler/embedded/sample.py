"""The shipped sample: titles and word counts of 20,000 real articles.

Layout of ``crawler/data/sample.xz``, decompressed, little-endian:

=============  ======================  ==================================================================
column         type                    meaning
=============  ======================  ==================================================================
sizes          3 uint32                bytes of ``text``, articles D, entries N
text           UTF-8 JSON              ``words``, most widespread first; ``titles``, in stored order
places         D uint16                where article 0, 1, … of the sample is stored
lengths        D uint8                 distinct words of each stored article
gap low, high  N uint8, N uint8        word id minus the one before it in its article, minus 1
counts         N uint8                 occurrences minus 1
=============  ======================  ==================================================================
"""

import json
import lzma
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.embedded.corpus import Corpus

SAMPLE_ARTICLES = 20_000
"""D of the shipped sample."""


def load_sample() -> Corpus:
    """Read the sample, which takes about 0.2 seconds and 20 MB of memory.

    Its words are all in the shipped English vocabulary; counts above 255 are clipped.
    """
    packed = (resources.files("wikitopics.crawler") / "data" / "sample.xz").read_bytes()
    data = lzma.decompress(packed)
    text_bytes, n_articles, n_entries = np.frombuffer(data, dtype="<u4", count=3).tolist()
    text = json.loads(data[12 : 12 + text_bytes])
    offset = 12 + text_bytes

    def column(count: int, dtype: str) -> NDArray[np.int64]:
        nonlocal offset
        values = np.frombuffer(data, dtype=dtype, count=count, offset=offset)
        offset += values.nbytes
        return values.astype(np.int64)

    places = column(n_articles, "<u2")
    stored_lengths = column(n_articles, "u1")
    gaps = column(n_entries, "u1") + 256 * column(n_entries, "u1")
    counts = column(n_entries, "u1") + 1

    # Ids are the running sum of the gaps, restarted with each article.
    running = np.cumsum(gaps + 1)
    ends = np.cumsum(stored_lengths)
    begins = ends - stored_lengths
    before = np.where(begins > 0, running[begins - 1], 0)
    ids = running - np.repeat(before, stored_lengths) - 1

    lengths = stored_lengths[places]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.repeat(begins[places] - indptr[:-1], lengths) + np.arange(n_entries)
    titles = text["titles"]
    return Corpus(
        titles=tuple(titles[place] for place in places.tolist()),
        words=tuple(text["words"]),
        indptr=indptr,
        word_ids=ids[entries].astype(np.int32),
        counts=counts[entries].astype(np.int32),
    )
