"""robots.txt as in RFC 9309: the group for us applies, the longest rule decides, and ``*`` and
``$`` are supported.

Protego is not used: its version 0.7.0 takes 2.2 GB and three minutes for 127 kB of user agents and
rules, and it treats a group for "wiki" as one for "wikitopics".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOST_BYTES = 500 * 1024
_MOST_RULES = 20_000
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class _Rule:
    pieces: tuple[str, ...]
    """The pieces between the stars."""
    anchored: bool
    """Whether the path must end where the rule does."""
    allow: bool
    length: int

    def decides_over(self, other: _Rule) -> bool:
        """Whether this rule decides for a path that both match."""
        if self.length == other.length:
            return self.allow
        return self.length > other.length


class Robots:
    """The permissions of one robots.txt for a crawler called ``agent``."""

    def __init__(self, text: bytes | str, agent: str) -> None:
        if isinstance(text, bytes):
            text = text[:_MOST_BYTES].decode("utf-8", errors="replace")
        self._rules = _rules_for(text[:_MOST_BYTES].lstrip("\ufeff"), agent.lower())

    def allows(self, path: str) -> bool:
        """Whether ``path`` (with its query, percent-encoded) may be fetched."""
        plain = _same_spelling(path)
        best: _Rule | None = None
        for rule in self._rules:
            if (best is None or rule.decides_over(best)) and _matches(rule, plain):
                best = rule
        return best is None or best.allow


def _rules_for(text: str, agent: str) -> list[_Rule]:
    """The rules of all groups that name ``agent``; if there are none, those for ``*``."""
    groups: dict[str, list[_Rule]] = {}
    targets: list[list[_Rule]] = []
    in_agents = False
    for line in text.splitlines():
        without_comment, _, _ = line.partition("#")
        key, separator, value = without_comment.partition(":")
        if not separator:
            continue
        key = key.strip().lower()
        value = value.strip()
        if key == "user-agent":
            if not in_agents:
                targets = []
            in_agents = True
            token, _, _ = value.lower().partition("/")
            if token in (agent, "*"):
                targets.append(groups.setdefault(token, []))
        elif key in ("allow", "disallow"):
            in_agents = False
            if not value.startswith(("/", "*")):
                continue  # empty: not a rule
            pieces = tuple(_same_spelling(value.removesuffix("$")).split("*"))
            rule = _Rule(pieces, value.endswith("$"), key == "allow", len(value))
            for target in targets:
                if len(target) < _MOST_RULES:
                    target.append(rule)
    return groups.get(agent, groups.get("*", []))


def _same_spelling(path: str) -> str:
    """``path`` with everything beyond the reserved characters unescaped, so that spellings can be
    compared."""
    if "%" not in path:
        return path

    def unescaped(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return match[0].upper() if character in "/*$?#%" else character

    # As one character for each byte: several escapes may make one letter.
    latin = _PERCENT.sub(unescaped, path.encode().decode("latin-1"))
    return latin.encode("latin-1").decode("utf-8", errors="replace")


def _matches(rule: _Rule, path: str) -> bool:
    """Match piece by piece, each as early as possible: linear where a regular expression would
    explode."""
    first, *rest = rule.pieces
    if not path.startswith(first):
        return False
    end = len(first)
    for number, piece in enumerate(rest, 1):
        is_last = rule.anchored and number == len(rest)
        start = len(path) - len(piece) if is_last else path.find(piece, end)
        if start < end or not path.startswith(piece, start):
            return False
        end = start + len(piece)
    return end == len(path) or not rule.anchored
