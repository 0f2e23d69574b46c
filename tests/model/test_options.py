import inspect

import numpy as np
import pytest

from wikitopics.model import ModelOption, kinds

PRIOR = ModelOption("alpha", "of the proportions", "learn", above=0, words=("learn",))
KAPPA = ModelOption("kappa", "how fast", least=0.5, most=1)
PASSES = ModelOption("passes", "how often", 3, least=1, most=10_000, whole=True)


@pytest.mark.parametrize(
    ("option", "value", "parsed"),
    [
        (PRIOR, "learn", "learn"),
        (PRIOR, "0.5", 0.5),
        (PRIOR, 2, 2.0),
        (PRIOR, np.float32(0.5), 0.5),
        (PRIOR, None, "learn"),
        (KAPPA, "1", 1.0),
        (KAPPA, 0.5, 0.5),
        (KAPPA, None, None),
        (PASSES, "7", 7),
        (PASSES, 7.0, 7),
    ],
)
def test_numbers_text_and_words_are_taken(option, value, parsed):
    found = option.parse(value)
    assert found == parsed
    assert type(found) is type(parsed)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        (PRIOR, 0, "alpha must be a number over 0, or learn, not 0"),
        (PRIOR, "lern", "a number over 0, or learn, not lern"),
        (PRIOR, True, "not True"),
        (PRIOR, "", "not an empty one$"),
        (PRIOR, [1], "not"),
        (PRIOR, "inf", "not inf"),
        (PRIOR, 10**400, "not 1000"),
        (KAPPA, "0.4", "kappa must be a number from 0.5 to 1, not 0.4"),
        (KAPPA, float("nan"), "not nan"),
        (KAPPA, "learn", "not learn"),
        (PASSES, 1.5, "passes must be a whole number from 1 to 10,000, not 1.5"),
        (PASSES, 0, "not 0"),
    ],
)
def test_what_is_wrong_is_one_line(option, value, says):
    with pytest.raises(ValueError, match=says) as caught:
        option.parse(value)
    assert "\n" not in str(caught.value)


def test_the_options_of_every_kind():
    declared = {name: [option.name for option in kinds.load(name).options] for name in kinds.names()}
    assert declared == {
        "lda": ["alpha", "eta", "kappa", "tau0", "half_life"],
        "scvb0": ["alpha", "eta", "kappa", "tau0", "half_life"],
        "hdp": ["alpha", "omega", "eta", "kappa", "tau0", "half_life"],
    }
    assert [kinds.load(name).default_topics for name in kinds.names()] == [100, 100, 300]
    assert [kinds.load(name).default_batch_size for name in kinds.names()] == [1024, 1024, 2048]


def test_declared_defaults_are_those_of_the_constructor():
    for name in kinds.names():
        kind = kinds.load(name)
        arguments = inspect.signature(kind).parameters
        for option in kind.options:
            assert arguments[option.name].default == option.default, (name, option.name)


@pytest.mark.parametrize("name", kinds.names())
def test_a_model_that_is_given_no_seed_has_seed_0(name):
    kind = kinds.load(name)
    unsaid, said = kind.create(3, 40, 500).state(), kind.create(3, 40, 500, seed=0).state()
    other = kind.create(3, 40, 500, seed=1).state()
    assert all(np.array_equal(unsaid[key], said[key]) for key in unsaid.keys() | said.keys())
    assert not all(np.array_equal(unsaid[key], other[key]) for key in unsaid)


def test_step_sizes_fall_no_faster_than_their_sum_diverges():
    """Beyond a kappa of 1 the steps become too small for a model to get anywhere."""
    for name in kinds.names():
        (kappa,) = (option for option in kinds.load(name).options if option.name == "kappa")
        assert (kappa.least, kappa.most) == (0.5, 1)
