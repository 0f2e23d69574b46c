"""Tables of figures."""

from collections.abc import Iterator, Sequence


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """As Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)
