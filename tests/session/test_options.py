"""The table of settings: every one declared once, and what is made from that."""

import json
from types import MappingProxyType

import pytest

from wikitopics.crawler import SourceInfo
from wikitopics.option import Option
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import KEPT, OWN
from wikitopics.session.request import TrainRequest, check_resumable, new_settings
from wikitopics.session.storage.settings import decode_settings
from wikitopics.session.training.intake.opening import Opened
from wikitopics.session.training.start import complete

LATER = Option(int, "grace_days", "Days.", least=1)


def test_names_are_used_once():
    taken = [option for name in sources.BUILT_IN for option in sources.load(name).options]
    by_name = {option.name: option for option in taken}
    assert all(by_name[option.name] is option for option in taken)
    names = [option.name for option in (*OWN, *by_name.values())]
    assert len(set(names)) == len(names)


@pytest.fixture
def later(monkeypatch):
    """A setting that comes later: its declaration is all that it takes."""
    for module in ("wikitopics.session.request", "wikitopics.session.storage.settings"):
        monkeypatch.setattr(f"{module}.KEPT", (*KEPT, LATER))


def made(**given):
    return resolved(TrainRequest(held_out=3, **given), 700)


def resolved(request, articles, identity=MappingProxyType({})):
    """The settings of a new session over a wiki of so many articles."""
    settings, _ = new_settings(request, sources.load("api"))
    return complete(settings, request, Opened(SourceInfo("a wiki", articles), identity, None))


def rows(settings):
    return [(key, json.dumps(value)) for key, value in settings.as_json().items()]


def test_a_later_setting_is_kept_and_compared(later):
    without, settings = made(), made(grace_days=500, on_end="ls")
    assert decode_settings(rows(settings)) == settings
    assert settings[LATER] == 500
    assert "on_end" not in settings.as_json()
    check_resumable(TrainRequest(grace_days=500), settings)
    with pytest.raises(BadUsage, match=r"^--grace-days 9: this session was made with 500"):
        check_resumable(TrainRequest(grace_days=9), settings)
    with pytest.raises(BadUsage, match=r"^--grace-days 9: this session was made without it"):
        check_resumable(TrainRequest(grace_days=9), without)


def test_every_number_that_a_model_takes_is_read_again():
    settings = made(model=("lda:topics=2,tau0=1e30",))
    assert decode_settings(rows(settings)).models == settings.models


def test_a_session_from_before_a_setting_has_its_default(later):
    settings = made()
    found = decode_settings([row for row in rows(settings) if row[0] not in ("keep_counts", "grace_days")])
    assert found.get(LATER) is None
    assert found == settings
    with pytest.raises(Damaged, match=r"settings.held_out must be a whole number"):
        decode_settings([row for row in rows(settings) if row[0] != "held_out"])


def test_a_new_session_stores_what_it_always_did():
    request = TrainRequest(
        model=("lda:topics=5,alpha=0.1", "hdp:batch_size=32"), kappa="0.7", batch_size="64"
    )
    stored = resolved(request, 5000, {"api_url": "http://w/api.php"}).as_json()
    fingerprint = stored.pop("fingerprint")
    assert len(fingerprint) == 64
    assert json.loads(json.dumps(stored)) == {
        "source": "api",
        "source_name": "a wiki",
        "measured_every": 10_000,
        "source_options": {"api_url": "http://w/api.php"},
        "vocabulary": "english",
        "rule": "1",
        "vocab_articles": 10_000,
        "seed": 0,
        "held_out": 500,
        "documents": 4500,
        "models": [
            {"kind": "lda", "name": "lda", "topics": 5, "alpha": 0.1, "batch_size": 64, "kappa": 0.7},
            {"kind": "hdp", "name": "hdp", "topics": 201, "batch_size": 32, "kappa": 0.7},
        ],
        "batch_sizes": [64, 32],
        "keep_articles": "all",
        "keep_counts": False,
        "passes": 1,
        "tokens": "words",
    }


@pytest.mark.parametrize("name", ["api", "html", "recent", "dump", "texts", "counts", "demo"])
def test_only_sources_that_people_watch_are_measured_more_often(name, tmp_path):
    kind, file = sources.load(name), tmp_path / "file"
    file.touch()
    asked = {
        "dump": ("dump", (str(file),)),
        "texts": ("texts", (str(file),)),
        "counts": ("counts", str(file)),
    }
    option, value = asked.get(name, ("seed", 1))
    settings, _ = new_settings(TrainRequest(**{option: value}), kind)
    watched = 10_000 if name in ("api", "html", "recent", "demo") else None
    assert settings.measured_every == watched
