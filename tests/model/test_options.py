import inspect

import numpy as np
import pytest

from wikitopics.model import Entry, OnlineLDA, StateError, kinds
from wikitopics.option import Option

PATIENCE = Option(float, "patience", "how long it waits", default=2.0, least=1, most=9)


class Patient(OnlineLDA):
    """Online LDA with one more option, added as anybody would add it."""

    options = (*OnlineLDA.options, PATIENCE)
    entries = (*OnlineLDA.entries, Entry.of_option(PATIENCE))

    def __init__(self, n_topics, n_words, n_documents, *, patience=2.0, **settings):
        super().__init__(n_topics, n_words, n_documents, **settings)
        self.patience = PATIENCE.value(patience)


def test_the_range_of_an_option_is_that_of_its_entry():
    state = Patient(3, 40, 500, patience=4).state()
    assert Patient.from_state(state).patience == state["patience"] == 4.0
    with pytest.raises(ValueError, match="patience must be a number from 1 to 9, not 10"):
        Patient(3, 40, 500, patience=10)
    with pytest.raises(StateError, match="patience must be from 1 to 9"):
        Patient.from_state({**state, "patience": 10.0})


def test_a_state_from_before_an_option_has_its_default():
    before = OnlineLDA(3, 40, 500, kappa=0.7).state()
    model = Patient.from_state(before)
    assert (model.patience, model.kappa) == (2.0, 0.7)


def test_a_kind_written_for_1_2_checks_its_options_as_before():
    Patient.check_options(patience=4, kappa=None)
    with pytest.raises(ValueError, match="patience must be a number from 1 to 9, not 10"):
        Patient.check_options(kappa=0.7, patience=10)


def test_an_option_that_does_not_exist_is_refused(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'kapa'"):
        kinds.load(kind).create(3, 40, 500, {"kapa": 1})


def test_every_setting_is_an_argument_of_the_constructor(kind):
    kind = kinds.load(kind)
    arguments = inspect.signature(kind).parameters
    assert {"n_words", "n_documents", "warm_start", "dtype", "seed", "threads"} <= arguments.keys()
    for argument in arguments.values():
        assert argument.kind is not argument.VAR_KEYWORD
    for option in kind.options:
        assert arguments[option.name].default == option.default


@pytest.mark.parametrize("dtype", [np.float64, np.dtype("float64"), "f8", float])
def test_a_dtype_may_be_named_as_numpy_does(kind, dtype):
    model = kinds.load(kind).create(3, 40, 500, {"dtype": dtype})
    assert model.topics().dtype == np.float64


NAN = float("nan")
EVERY = {
    "topics": [0, 2.9, "few"],
    "n_words": [0, 2.9],
    "n_documents": [0, NAN],
    "eta": [-1, NAN],
    "kappa": [0.4, 3],
    "tau0": [-1, 1e31],
    "half_life": [99, 100.5, "learn"],
    "threads": [0],
    "dtype": ["int", np.int64],
}
REFUSED = {
    "lda": {
        "alpha": [0, "learned"],
        "initialization": ["zero"],
        "tolerance": [-1, NAN],
        "max_iterations": [-1, 10_001],
    },
    "scvb0": {
        "alpha": [0, "learned"],
        "n_tokens": [0],
        "s": [0],
        "theta_s": [-1],
        "theta_tau0": [float("inf")],
        "theta_kappa": [3],
        "burn_in": [-1, 10_001],
    },
    "hdp": {
        "max_topics_per_document": [0, 1_001],
        "omega": [0],
        "alpha": [0, "learn"],
        "tolerance": [0],
        "max_iterations": [0, 10_001],
    },
}


def refused():
    """(kind, name, wrong value) of each case."""
    for kind, own in REFUSED.items():
        for name, values in {**EVERY, **own}.items():
            for value in values:
                yield kind, name, value


@pytest.mark.parametrize(("kind", "name", "wrong"), list(refused()))
def test_settings_out_of_range_are_refused(kind, name, wrong):
    given = {"topics": 3, "n_words": 40, "n_documents": 500, "threads": 1}
    if name in given:
        given[name] = wrong
    else:
        given["options"] = {name: wrong}
    with pytest.raises(ValueError, match=name):
        kinds.load(kind).create(**given)


def test_the_largest_tau0_is_kept(kind):
    model = kinds.load(kind).create(3, 40, 500, {"tau0": 1e30})
    again = type(model).from_state(model.state())
    assert again.state()["tau0"] == 1e30
