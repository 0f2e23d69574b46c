"""sqlite-utils, loaded without pandas.

If pandas is installed, sqlite-utils imports it to support one more type of column, `pandas.Timestamp`, which
no session has. That would add a third of a second to the start of every trainer. A program that reads
sessions and wants such columns in databases of its own has to import pandas or sqlite-utils first.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Hiding:
    """Hides a package from one thread's imports; other threads, such as a notebook's, find it as usual."""

    def __init__(self, name: str) -> None:
        self._name, self._thread = name, threading.get_ident()

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == self._name and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Make imports of this package fail within the block, unless it is already loaded."""
    hiding = _Hiding(name)
    sys.meta_path.insert(0, hiding)
    try:
        yield
    finally:
        sys.meta_path.remove(hiding)


with _without("pandas"):
    from sqlite_utils import Database

__all__ = ["Database"]
