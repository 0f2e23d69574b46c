"""Models and settings: every one declared once, and what is made from that."""

import json
import re
from types import MappingProxyType

import pytest

from wikitopics.crawler import SourceInfo
from wikitopics.option import Option
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import KEPT, OWN
from wikitopics.session.request import TrainRequest, check_resumable, new_settings
from wikitopics.session.settings import ModelSpec, batch_sizes, parse_specs
from wikitopics.session.storage.opened import decode_settings
from wikitopics.session.training.new_session import complete
from wikitopics.session.training.opening import Opened


def test_every_key_is_read_and_no_model_means_lda():
    assert parse_specs([], {}) == (ModelSpec("lda", "lda", 100),)
    (spec,) = parse_specs(
        ["lda:name=a.b-c,topics=7,alpha=learn,eta=0.5,batch_size=32,kappa=0.9,tau0=3"], {}
    )
    assert spec == ModelSpec(
        "lda",
        "a.b-c",
        7,
        32,
        {"alpha": "learn", "eta": 0.5, "kappa": 0.9, "tau0": 3.0},
    )
    (spec,) = parse_specs(["hdp:alpha=2,omega=3,eta=0.1"], {})
    assert spec == ModelSpec("hdp", "hdp", 300, None, {"alpha": 2.0, "omega": 3.0, "eta": 0.1})


def test_a_spec_wins_over_the_shared_options_and_hdp_takes_no_shared_priors():
    shared = {"alpha": "0.3", "eta": "learn", "kappa": "0.7", "tau0": None, "batch_size": "64"}
    lda, hdp = parse_specs(["lda:topics=3", "hdp"], {"topics": "9", **shared})
    assert (lda.topics, lda.options) == (3, {"alpha": 0.3, "eta": "learn", "kappa": 0.7})
    assert (hdp.topics, hdp.options, hdp.batch_size) == (9, {"kappa": 0.7}, 64)


def test_several_numbers_of_topics_make_a_model_of_each_and_name_it():
    shared = {"topics": "10, 20,1e2", "alpha": "0.3"}
    specs = parse_specs(["lda", "hdp:topics=30", "scvb0:name=s"], shared)
    assert [(spec.kind, spec.name, spec.topics) for spec in specs] == [
        ("lda", "lda-10", 10),
        ("lda", "lda-20", 20),
        ("lda", "lda-100", 100),
        ("hdp", "hdp", 30),
        ("scvb0", "s-10", 10),
        ("scvb0", "s-20", 20),
        ("scvb0", "s-100", 100),
    ]
    assert not any(spec.usual_topics for spec in specs)
    assert specs[0].options == {"alpha": 0.3}
    assert [spec.name for spec in parse_specs([], {"topics": "5,7"})] == ["lda-5", "lda-7"]
    assert [spec.name for spec in parse_specs([], {"topics": "5"})] == ["lda"]


@pytest.mark.parametrize(
    ("texts", "topics", "says"),
    [
        ((), "10,,20", "topics must be a number, or several as in 10,20,40, not '10,,20'"),
        ((), "10,", "topics must be a number, or several"),
        ((), ",", "topics must be a number, or several"),
        ((), "10,abc", "topics must be a whole number from 1 to 10,000, not abc"),
        ((), "0,10", "from 1 to 10,000, not 0"),
        ((), "10,10001", "from 1 to 10,000, not 10001"),
        ((), "10,20,10", "10 is given twice"),
        ((), ",".join(map(str, range(2, 23))), "--topics: at most 20 numbers of topics are learnt"),
        ((), "10,1e1", "two models are named 'lda-10'"),
        (("lda:topics=5",), "10,20", "every --model names its own number of topics"),
        (("lda:topics=5",), "7", "every --model names its own number of topics"),
        (("lda", "lda:name=lda-10,topics=5"), "10,20", "two models are named 'lda-10'"),
        (("lda:name=" + "x" * 62,), "10,20", "with its number of topics, the name is too long"),
    ],
)
def test_what_is_wrong_with_several_numbers_of_topics_is_said(texts, topics, says):
    with pytest.raises(BadUsage, match=re.escape(says)) as caught:
        parse_specs(texts, {"topics": topics})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ldaa", "not a kind of model"),
        ("", "not a kind of model"),
        ("LDA", "not a kind of model.*'lda'"),
        ("lda:topics", "KEY=VALUE"),
        ("lda:topic=3", "Did you mean 'topics'"),
        ("lda:batch-size=3", "Did you mean 'batch_size'"),
        ("lda:topics=3,topics=4", "twice"),
        ("lda:topics=0", "from 1 to"),
        ("lda:topics=99999999999999999999", "from 1 to"),
        (
            "lda:omega=1",
            "'omega' is not a setting of lda. Available: name, topics, alpha, eta, kappa",
        ),
        ("hdp:alpha=learn", "alpha must be a number from 1e-09 to 1,000,000,000, not learn"),
        ("lda:name=../x", "a model's name"),
        ("lda:name=", "a model's name"),
        ("lda:name=-x", "a model's name"),
        ("lda:name=" + "x" * 65, "a model's name"),
    ],
)
def test_what_is_wrong_with_a_model_is_said(text, says):
    with pytest.raises(BadUsage, match=says) as caught:
        parse_specs([text], {})
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_models_need_names_of_their_own_and_batch_sizes_that_divide_the_largest():
    with pytest.raises(BadUsage, match="two models are named 'lda'"):
        parse_specs(["lda", "lda:topics=3"], {})
    specs = parse_specs(["lda", "lda:name=other"], {})
    assert [spec.name for spec in specs] == ["lda", "other"]
    specs = parse_specs(["lda:batch_size=256", "hdp:batch_size=64", "scvb0:batch_size=256"], {})
    assert batch_sizes(specs) == (256, 64, 256)
    assert batch_sizes(parse_specs(["lda", "hdp"], {})) == (1024, 2048)


LATER = Option(int, "grace_days", "Days.", least=1)


def test_names_are_used_once():
    options = []
    for kind in sources.BUILT_IN:
        options += sources.load(kind).options
    by_name = {option.name: option for option in options}
    assert all(by_name[option.name] is option for option in options), "kinds may share an option"
    names = [option.name for option in (*OWN, *by_name.values())]
    assert len(set(names)) == len(names)


@pytest.fixture
def later(monkeypatch):
    """A setting that comes later: its declaration is all that it takes."""
    for module in ("wikitopics.session.request", "wikitopics.session.storage.opened"):
        monkeypatch.setattr(f"{module}.KEPT", (*KEPT, LATER))


def resolved(request, articles, identity=MappingProxyType({})):
    """The settings of a new session over a wiki of so many articles."""
    settings, _ = new_settings(request, sources.load("api"))
    return complete(settings, request, Opened(SourceInfo("a wiki", articles), identity, None))


def made(**given):
    """The settings of a new session for which these are given."""
    return resolved(TrainRequest(held_out=3, **given), 700)


def rows(settings):
    """As the session file has them."""
    return [(key, json.dumps(value)) for key, value in settings.as_json().items()]


def test_a_later_setting_is_kept_and_compared(later):
    without = made()
    settings = made(grace_days=500, on_end="ls")
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
    found = decode_settings(
        [row for row in rows(settings) if row[0] not in ("keep_counts", "grace_days")]
    )
    assert found.get(LATER) is None
    assert found == settings
    with pytest.raises(Damaged, match=r"settings.held_out must be a whole number"):
        decode_settings([row for row in rows(settings) if row[0] != "held_out"])


def test_a_new_session_stores_what_it_always_did():
    asked = TrainRequest(
        model=("lda:topics=5,alpha=0.1", "hdp:batch_size=32"), kappa="0.7", batch_size="64"
    )
    stored = resolved(asked, 5000, {"api_url": "http://w/api.php"}).as_json()
    assert len(stored.pop("fingerprint")) == 64
    assert json.loads(json.dumps(stored)) == {
        "source": "api",
        "source_name": "a wiki",
        "source_options": {"api_url": "http://w/api.php"},
        "vocabulary": "english",
        "rule": "1",
        "vocab_articles": 10_000,
        "tokens": "words",
        "models": [
            {
                "kind": "lda",
                "name": "lda",
                "topics": 5,
                "alpha": 0.1,
                "batch_size": 64,
                "kappa": 0.7,
            },
            {"kind": "hdp", "name": "hdp", "topics": 201, "batch_size": 32, "kappa": 0.7},
        ],
        "batch_sizes": [64, 32],
        "seed": 0,
        "held_out": 500,
        "documents": 4500,
        "passes": 1,
        "replicas": 0,
        "keep_articles": "all",
        "keep_counts": False,
        "no_snippets": False,
        "measured_every": 10_000,
    }


@pytest.mark.parametrize(
    ("given", "measured_every"), [({}, 10_000), ({"texts": (__file__,)}, None)]
)
def test_only_sources_that_people_watch_are_measured_more_often(given, measured_every):
    request = TrainRequest(**given)
    settings, _ = new_settings(request, request.kind())
    assert settings.measured_every == measured_every
