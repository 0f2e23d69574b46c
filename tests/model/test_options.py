import inspect

import numpy as np
import pytest

from wikitopics.model import kinds


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
