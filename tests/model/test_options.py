import inspect

import numpy as np
import pytest

from wikitopics.model import kinds


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


EVERY = [
    {"n_words": 0},
    {"n_documents": 0},
    {"n_documents": float("nan")},
    {"alpha": 0},
    {"eta": -1},
    {"eta": float("nan")},
    {"kappa": 0.4},
    {"kappa": 3},
    {"tau0": -1},
    {"tau0": 1e31},
    {"half_life": 99},
    {"half_life": 100.5},
    {"half_life": "learn"},
    {"threads": 0},
    {"dtype": "int"},
]
REFUSED = {
    "lda": [{"topics": 0}, {"alpha": "learned"}, {"initialization": "zero"}],
    "scvb0": [
        {"topics": 0},
        {"alpha": "learned"},
        {"n_tokens": 0},
        {"s": 0},
        {"theta_s": -1},
        {"theta_tau0": float("inf")},
        {"theta_kappa": 3},
        {"burn_in": -1},
    ],
    "hdp": [
        {"topics": 0},
        {"max_topics_per_document": 0},
        {"omega": 0},
        {"alpha": "learn"},
        {"tolerance": 0},
    ],
}


@pytest.mark.parametrize(("kind", "wrong"), [(k, one) for k, own in REFUSED.items() for one in EVERY + own])
def test_settings_out_of_range_are_refused(kind, wrong):
    sizes = {"topics": 3, "n_words": 40, "n_documents": 500, "threads": 1}
    own = {name: value for name, value in wrong.items() if name not in sizes}
    with pytest.raises(ValueError, match=next(iter(wrong))):
        kinds.load(kind).create(**{**sizes, **{n: v for n, v in wrong.items() if n in sizes}}, options=own)


@pytest.mark.parametrize("kind", kinds.names())
def test_the_largest_tau0_is_kept(kind):
    load = kinds.load(kind)
    assert load.from_state(load.create(3, 40, 500, {"tau0": 1e30}).state()).state()["tau0"] == 1e30
