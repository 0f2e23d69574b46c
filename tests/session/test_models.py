import json

import pytest

from wikitopics.session.errors import BadUsage
from wikitopics.session.models import ModelSpec, batch_sizes, parse_specs
from wikitopics.session.settings import Settings
from wikitopics.session.storage.codec.settings import decode_settings


def test_no_model_named_means_lda():
    assert parse_specs([], {}) == (ModelSpec("lda", "lda", 100),)


def test_every_key_is_read():
    (spec,) = parse_specs(["lda:name=a.b-c,topics=7,alpha=learn,eta=0.5,batch_size=32,kappa=0.9,tau0=3"], {})
    assert spec == ModelSpec("lda", "a.b-c", 7, 32, {"alpha": "learn", "eta": 0.5, "kappa": 0.9, "tau0": 3.0})
    (spec,) = parse_specs(["hdp:alpha=2,omega=3,eta=0.1"], {})
    assert spec == ModelSpec("hdp", "hdp", 300, None, {"alpha": 2.0, "omega": 3.0, "eta": 0.1})


def test_a_spec_wins_over_the_shared_options_and_hdp_takes_no_shared_priors():
    defaults = {
        "topics": "9",
        "alpha": "0.3",
        "eta": "learn",
        "kappa": "0.7",
        "tau0": None,
        "batch_size": "64",
    }
    lda, hdp = parse_specs(["lda:topics=3", "hdp"], defaults)
    assert (lda.topics, lda.options) == (3, {"alpha": 0.3, "eta": "learn", "kappa": 0.7})
    assert (hdp.topics, hdp.options, hdp.batch_size) == (9, {"kappa": 0.7}, 64)


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
        ("lda:topics=-5", "from 1 to"),
        ("lda:topics=1e9", "whole number"),
        ("lda:topics=99999999999999999999", "from 1 to"),
        ("lda:topics=", "whole number"),
        ("lda:alpha=0", "from 1e-09 to"),
        ("lda:alpha=-1", "from 1e-09 to"),
        ("lda:alpha=nan", "from 1e-09 to"),
        ("lda:alpha=inf", "from 1e-09 to"),
        ("lda:alpha=lern", "from 1e-09 to"),
        ("lda:eta=0", "from 1e-09 to"),
        ("lda:kappa=3", "from 0.5 to 1"),
        ("lda:kappa=0.4", "from 0.5 to 1"),
        ("lda:kappa=nan", "from 0.5 to 1"),
        ("lda:tau0=-1", "from 0"),
        ("lda:tau0=inf", "from 0"),
        ("lda:batch_size=-1", "from 1 to"),
        (
            "lda:omega=1",
            "'omega' is not a setting of lda. Available: name, topics, alpha, eta, kappa",
        ),
        ("hdp:alpha=learn", "alpha must be a number from 1e-09 to 1,000,000,000, not learn"),
        ("hdp:eta=learn", "eta must be a number from 1e-09"),
        ("hdp:omega=0", "from 1e-09 to"),
        ("lda:name=../x", "a model's name"),
        ("lda:name=", "a model's name"),
        ("lda:name=-x", "a model's name"),
        ("lda:name=" + "x" * 65, "a model's name"),
    ],
)
def test_what_is_wrong_is_said(text, says):
    with pytest.raises(BadUsage, match=says) as caught:
        parse_specs([text], {})
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_two_models_need_two_names():
    with pytest.raises(BadUsage, match="two models are named 'lda'"):
        parse_specs(["lda", "lda:topics=3"], {})
    assert [s.name for s in parse_specs(["lda", "lda:name=other"], {})] == ["lda", "other"]


def test_batch_sizes_must_divide_the_largest():
    specs = parse_specs(["lda:batch_size=256", "hdp:batch_size=64", "scvb0:batch_size=256"], {})
    assert batch_sizes(specs) == (256, 64, 256)
    assert batch_sizes(parse_specs(["lda", "hdp"], {})) == (1024, 2048)
    with pytest.raises(BadUsage, match="'hdp' has batch size 100, which does not divide the largest, 256"):
        batch_sizes(parse_specs(["lda:batch_size=256", "hdp:batch_size=100", "scvb0:batch_size=64"], {}))


def test_settings_survive_the_file():
    specs = parse_specs(["lda:alpha=learn,topics=3", "hdp:omega=2"], {})
    settings = Settings(
        {
            "seed": 7,
            "held_out": 10,
            "documents": 99,
            "keep_articles": "all",
            "keep_counts": False,
            "vocab_articles": 10_000,
        },
        source="api",
        source_name="en.wikipedia.org",
        source_options={"api_url": "x"},
        vocabulary="english",
        fingerprint="f" * 64,
        rule="1",
        models=specs,
        batch_sizes=(64, 32),
    )
    rows = [(key, json.dumps(value)) for key, value in settings.as_json().items()]
    assert decode_settings(rows) == settings
    assert settings.batch_size == 64


@pytest.mark.parametrize("kind", ["lda", "scvb0", "hdp"])
def test_steps_that_adapt_themselves_are_no_more(kind):
    with pytest.raises(BadUsage, match=r"kappa must be a number from 0\.5 to 1, not adaptive"):
        parse_specs([f"{kind}:kappa=adaptive"], {})
