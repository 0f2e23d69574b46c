"""Work that goes on while the screen is drawn and keys are answered."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import WorkType


def begin(
    node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = True
) -> None:
    """Begin work of a group, where it is exclusive in place of what of the group still goes on.

    It is called only when its turn comes: a coroutine made before and displaced by then would be awaited by
    nobody.
    """
    called: WorkType[None] = work
    # Without a description Textual writes one out, of all that the work was given: 0.3 s for a large session.
    node.run_worker(called, group=group, description=group, exclusive=exclusive)
