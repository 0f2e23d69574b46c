"""sqlite-utils, loaded without pandas.

If pandas is installed, sqlite-utils imports it to support one more type of column, which no session has. That
would add a third of a second to the start of every trainer.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Make imports of this package fail within the block, unless it is loaded already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


with _without("pandas"):
    from sqlite_utils import Database, Migrations

__all__ = ["Database", "Migrations"]
