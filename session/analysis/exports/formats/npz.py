"""NumPy's own file of arrays."""

import io
from collections.abc import Iterator

from wikitopics.session.analysis.exports.formats.format import Format
from wikitopics.session.analysis.exports.subject import ExportRequest, Subject


class Npz(Format):
    """Arrays by name, compressed, for ``numpy.load``."""

    name = "npz"
    label = "NumPy .npz"
    binary = True

    def fits(self, subject: Subject) -> bool:
        return subject.arrays is not None

    def pieces(self, subject: Subject, asked: ExportRequest) -> Iterator[bytes]:
        import numpy as np

        assert subject.arrays is not None
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **subject.arrays(asked))
        yield buffer.getvalue()
