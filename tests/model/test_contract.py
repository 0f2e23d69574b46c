"""What every kind of model promises, and that the check of it sees what is broken."""

import numpy as np
import pytest

from tests import packages
from tests.model.conftest import planted
from wikitopics.model import Entry, OnlineModel, check_model, kinds
from wikitopics.model.checking import CHECKS, Make
from wikitopics.model.options import HALF_LIFE

MixtureOfUnigrams = packages.module_of("A model of your own")["MixtureOfUnigrams"]
LEARNT = {"alpha": "learn", "eta": "learn"}
VARIANTS = {
    "lda": ({}, LEARNT, {"tau0": 1, "kappa": 0.7, "dtype": "float64"}),
    "scvb0": ({}, LEARNT, {"kappa": 0.7, "theta_s": 2, "n_tokens": 9000, "warm_start": False}),
    "hdp": ({}, {"warm_start": False}, {"eta": 0.1, "dtype": "float64"}),
}
EVERY = [(kind, options) for kind in kinds.names() for options in VARIANTS.get(kind, ({},))]


def named(value):
    if isinstance(value, dict):
        return ",".join(value) or "defaults"
    return getattr(value, "__name__", value)


@pytest.mark.parametrize("check", CHECKS, ids=named)
@pytest.mark.parametrize(("kind", "options"), EVERY, ids=named)
def test_every_kind_keeps_its_promises(kind, options, check):
    check(Make(kinds.load(kind), options))


@pytest.mark.parametrize(("kind", "options"), EVERY, ids=named)
def test_many_blocks_give_the_same_bits_from_any_number_of_threads(kind, options):
    """The check's few documents and words are one block, which one thread does alone."""
    batch, _ = planted(1100, n_words=5000)
    one = kinds.load(kind).create(6, 5000, 1100, options, threads=1)
    three = kinds.load(kind).create(6, 5000, 1100, options, threads=3)
    for part in (batch, batch[:600]):
        np.testing.assert_array_equal(one.learn(part), three.learn(part))
    np.testing.assert_array_equal(one.infer(batch), three.infer(batch))
    state = three.state()
    for key, value in one.state().items():
        np.testing.assert_array_equal(value, state[key], err_msg=key)


ENTRIES = MixtureOfUnigrams.entries
INFER = MixtureOfUnigrams.infer
TOPICS = MixtureOfUnigrams.topics
LEARN = MixtureOfUnigrams.learn
SHARES = MixtureOfUnigrams.topic_shares


def broken(**attributes):
    return type("Broken", (MixtureOfUnigrams,), attributes)


def begun(change):
    """A model that this is done to when it is made."""

    def __init__(self, *sizes, **more):
        MixtureOfUnigrams.__init__(self, *sizes, **more)
        change(self)

    return broken(__init__=__init__)


class Drawn(MixtureOfUnigrams):
    def infer(self, batch):
        noise = 0.01 * np.random.default_rng().random((batch.D, 1))
        has_words = batch.lengths() > 0
        theta = super().infer(batch) + noise * has_words[:, None]
        return (theta / theta.sum(axis=1, keepdims=True)).astype(np.float32)

    def learn(self, batch):
        super().learn(batch)
        return super().infer(batch)


class Sparse(MixtureOfUnigrams):
    def topics(self):
        rows = super().topics()
        rows[rows < 1e-3] = 0
        return rows / rows.sum(axis=1, keepdims=True)

    def infer(self, batch):
        batch.check_words(self.n_words)
        scores = self._counts(batch) @ np.log(self.topics() + 1e-9).T + np.log(
            self.document_prior()
        )
        theta = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (theta / theta.sum(axis=1, keepdims=True)).astype(np.float32)


class Careless(MixtureOfUnigrams):
    def learn(self, batch):
        self.updates += 1
        batch.check_words(self.n_words)
        self.updates -= 1
        return super().learn(batch)


class Stubborn(MixtureOfUnigrams):
    def learn(self, batch):
        theta = super().learn(batch)
        self.words[:] = 1
        return theta


class Unsettled(MixtureOfUnigrams):
    def learn(self, batch):
        self.words *= 0.9
        return super().learn(batch)


class Partial(MixtureOfUnigrams):
    def infer(self, batch):
        theta = super().infer(batch)
        theta[batch.lengths() == 0] = 1 / self.n_topics
        return theta


class Hurried(MixtureOfUnigrams):
    options = (*MixtureOfUnigrams.options, HALF_LIFE)

    def __init__(self, *sizes, half_life=None, **more):
        super().__init__(*sizes, **more)
        self.half_life = half_life and float(half_life)


class Sharing(MixtureOfUnigrams):
    def state(self):
        return super().state() | {"words": self.words}

    def learn(self, batch):
        shared = self.words  # the array that earlier states have
        theta = super().learn(batch)
        shared[:] = self.words
        self.words = shared
        return theta


class Unchecked(MixtureOfUnigrams):
    def __init__(self, *sizes, eta=0.1, **more):
        super().__init__(*sizes, **more)
        self.eta = float(eta)


class Drawing(MixtureOfUnigrams):
    def infer(self, batch):
        self._random.random()
        return super().infer(batch)


class Unsized(MixtureOfUnigrams):
    def topics(self):
        factor = np.nan if self.n_words == 1 else 1
        return super().topics() * factor


@pytest.mark.parametrize(
    ("says", "kind"),
    {
        "a restored model to have documents: is it among entries": broken(entries=ENTRIES[:-1]),
        "the model to have wrods, an attribute that entries names": broken(
            entries=(*ENTRIES, Entry("wrods", type="float64", shape="W K"))
        ),
        "the state's words must be an array of float64, not float32": begun(
            lambda model: setattr(model, "words", model.words.astype(np.float32))
        ),
        "eta to be of the type of its Entry, found int and float: store it as the Entry's type": begun(
            lambda model: setattr(model, "eta", 1)
        ),
        "same from two models of one seed: draw only from self._random": begun(
            lambda model: setattr(
                model, "words", np.random.default_rng().gamma(1.0, 1.0, model.words.shape)
            )
        ),
        "two models of one seed: draw only from self._random": Drawn,
        "learn to give an array, found None": broken(learn=lambda self, batch: None),
        "is every value of topics above 0": Sparse,
        "a ValueError for eta=0, as it must be a number over 0 to": Unchecked,
        "the same random after infer": Drawing,
        "sums of 1 in what topics gives": broken(topics=lambda self: 2 * TOPICS(self)),
        "the same updates after a word id out of range": Careless,
        "0.2 better than": Stubborn,
        "passes to be of the type of its Entry": broken(
            entries=(*ENTRIES, Entry("passes")), passes=3
        ),
        "learn must call _note_step once": broken(_note_step=lambda self, *step: None),
        "the same words after a minibatch without documents": Unsettled,
        "document_prior is not what infer gives": Partial,
        "different topics from a different seed": broken(
            __init__=lambda self, *sizes, seed=0, **more: MixtureOfUnigrams.__init__(
                self, *sizes, **more
            )
        ),
        "expected rho from": Hurried,
        "the same words of a state, whatever its models have learnt since": Sharing,
        "finite numbers in what infer gives": broken(
            infer=lambda self, batch: np.nan * INFER(self, batch)
        ),
        "finite numbers in what learn gives": broken(
            learn=lambda self, batch: np.nan * LEARN(self, batch)
        ),
        r"expected topics to give the shape \(6, 40\), found \(40, 6\)": broken(
            topics=lambda self: TOPICS(self).T
        ),
        r"topic_shares to give the shape \(6,\), found \(5,\)": broken(
            topic_shares=lambda self: SHARES(self)[1:]
        ),
        "topic_shares to give an array, found 0.5": broken(topic_shares=lambda self: 0.5),
        r"document_prior of shape \(6,\), found \[1": broken(document_prior=lambda self: [1.0] * 6),
        "metric certainty to be a finite float, found nan": broken(
            own_metrics=lambda self, batch: {"certainty": float("nan")}
        ),
        "finite numbers in what topics gives": Unsized,
    }.items(),
)
def test_the_check_says_what_was_expected(says, kind):
    with pytest.raises(AssertionError, match=says) as caught:
        check_model(kind)
    assert "\n" not in str(caught.value)


def test_a_method_or_attribute_that_is_missing_is_said():
    class Slip(MixtureOfUnigrams):
        def learn(self, batch):
            return self.infre(batch)

    with pytest.raises(AttributeError, match="infre"):
        check_model(Slip)

    class Half(OnlineModel):
        kind = "half"
        label = "half a model"

    with pytest.raises(AssertionError, match="abstract"):
        check_model(Half)


def test_a_whole_number_will_do_for_a_real_option():
    check_model(MixtureOfUnigrams, eta=1)


@pytest.mark.parametrize("drawn", [0, 1])
def test_the_generator_goes_on_where_it_was(kind, drawn):
    """With half of a 64-bit number waiting, too."""
    model = kinds.load(kind).create(6, 40, 300)
    generator = model._random.bit_generator
    model._random.integers(0, 9, drawn, dtype=np.int32)
    assert generator.state["has_uint32"] == drawn
    other = type(model).from_state(model.state())
    assert other._random.bit_generator.state == generator.state
