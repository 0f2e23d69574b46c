"""sqlite-utils, loaded without a package that it would load needlessly."""

import importlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from wikitopics.session.storage.database import _without


def test_a_package_is_hidden_from_this_thread_alone(tmp_path, monkeypatch):
    (tmp_path / "some_guest.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with _without("some_guest"), ThreadPoolExecutor(1) as other:
        with pytest.raises(ImportError):
            importlib.import_module("some_guest")
        assert other.submit(importlib.import_module, "some_guest").result(60)
        assert importlib.import_module("some_guest"), "it is loaded now"
