"""Points of the curves: `metrics`."""

from typing import Any

from wikitopics.session.storage.decoding import FINITE, LATEST, number, whole


def decode_measurement(row: tuple[Any, ...]) -> tuple[int, int, float, float]:
    """`metrics`: (articles, tokens, seconds, value)."""
    articles, tokens, seconds, value = row
    return (
        whole(articles, "metrics.articles"),
        whole(tokens, "metrics.tokens"),
        number(seconds, "metrics.seconds", 0, LATEST),
        number(value, "metrics.value", -FINITE, FINITE),
    )
