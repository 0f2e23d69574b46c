"""Background work, so that the screen is drawn and keys are answered meanwhile."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import WorkType

Work = Callable[[], Coroutine[Any, Any, None]]


def run_in_background(node: DOMNode, work: Work, group: str, *, exclusive: bool = True) -> None:
    """Start work of a group; if exclusive, it replaces whatever of the group is still running.

    The work is called only when its turn comes: a coroutine made earlier and replaced by then would
    never be awaited.
    """
    called: WorkType[None] = work
    # Without a description, Textual builds one from everything passed to the work: 0.3 s for a
    # large session.
    node.run_worker(called, group=group, description=group, exclusive=exclusive)
