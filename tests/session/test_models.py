import pytest

from wikitopics.session.errors import BadUsage
from wikitopics.session.settings import ModelSpec, batch_sizes, parse_specs


def test_no_model_named_means_lda():
    assert parse_specs([], {}) == (ModelSpec("lda", "lda", 100),)


def test_every_key_is_read():
    (spec,) = parse_specs(["lda:name=a.b-c,topics=7,alpha=learn,eta=0.5,batch_size=32,kappa=0.9,tau0=3"], {})
    assert spec == ModelSpec("lda", "a.b-c", 7, 32, {"alpha": "learn", "eta": 0.5, "kappa": 0.9, "tau0": 3.0})
    (spec,) = parse_specs(["hdp:alpha=2,omega=3,eta=0.1"], {})
    assert spec == ModelSpec("hdp", "hdp", 300, None, {"alpha": 2.0, "omega": 3.0, "eta": 0.1})


def test_a_spec_wins_over_the_shared_options_and_hdp_takes_no_shared_priors():
    shared = {"alpha": "0.3", "eta": "learn", "kappa": "0.7", "tau0": None, "batch_size": "64"}
    lda, hdp = parse_specs(["lda:topics=3", "hdp"], {"topics": "9", **shared})
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
        ("lda:topics=99999999999999999999", "from 1 to"),
        ("lda:alpha=0", "from 1e-09 to"),
        ("lda:kappa=0.4", "from 0.5 to 1"),
        ("lda:tau0=-1", "from 0"),
        ("lda:omega=1", "'omega' is not a setting of lda. Available: name, topics, alpha, eta, kappa"),
        ("hdp:alpha=learn", "alpha must be a number from 1e-09 to 1,000,000,000, not learn"),
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
