"""Real text, which is not part of the project: tests that need it are skipped where it is
missing."""

import os
from pathlib import Path

import pytest

from tests.commands import ROOT

CORPUS = Path(os.environ.get("WIKITOPICS_SHARED", ROOT / ".." / "shared")) / "corpus"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the shared corpus")
