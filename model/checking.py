"""What every kind of model promises, as checks that anybody can run on a model."""

from __future__ import annotations

import inspect
import io
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.completion import document_completion
from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import OnlineModel, lift_factors
from wikitopics.model.options import HALF_LIFE, TAKEN
from wikitopics.model.relevance import RELEVANCE
from wikitopics.model.states import Plain, State, StateError
from wikitopics.option import fault_in
from wikitopics.registry import NAME

TOPICS = 6
"""The number of topics of the models that are checked."""
W = 40
"""The number of words; each of 4 planted topics has 10 of its own."""
MANY = 1_200
"""More documents than a single thread is likely to get."""


@dataclass(frozen=True)
class Make:
    """Makes small models of a kind, with these options."""

    kind: type[OnlineModel]
    options: Mapping[str, Any]

    def __call__(
        self,
        n_documents: float = 300,
        seed: int = 3,
        threads: int = 1,
        **more: Any,
    ) -> OnlineModel:
        options = {**self.options, **more}
        return self.kind.create(TOPICS, W, n_documents, options, seed, threads)


def check_model(kind: type[OnlineModel], **options: Any) -> None:
    """Run all `CHECKS` on a kind of model, with small data.

    options: those of the model, besides its sizes. Raises AssertionError, with one line about what
    was expected, for the first broken promise.
    """
    make = Make(kind, options)
    for check in CHECKS:
        try:
            check(make)
        except StateError as error:
            raise AssertionError(f"expected a state that from_state takes: {error}") from error
        except AttributeError as error:
            missing = _missing(make, error)
            if not missing:
                raise
            raise AssertionError(missing) from error


def _missing(make: Make, error: AttributeError) -> str:
    """A message about the attribute that the error says is missing, if it is among the kind's
    `entries`, or should be; otherwise ""."""
    if not isinstance(error.obj, make.kind):
        return ""
    attributes = [entry.name for entry in make.kind.entries]
    if error.name in attributes:
        return f"expected the model to have {error.name}, an attribute that entries names"
    if hasattr(make(), str(error.name)):
        return f"expected a restored model to have {error.name}: is it among entries?"
    return ""


def planted_documents(
    n_documents: int,
    seed: int = 0,
    *,
    length: int = 40,
    alpha: float = 0.1,
    shared: float = 0.1,
) -> Minibatch:
    """Documents of about `length` words from 4 known topics, which have the share `shared` of
    their words in common."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(seed)
    n_own = W // 4  # words of each topic alone
    beta = np.full((4, W), shared / W)
    for k in range(4):
        own_words = slice(k * n_own, (k + 1) * n_own)
        beta[k, own_words] += (1 - shared) / n_own
    theta = random.dirichlet(np.full(4, alpha), n_documents)
    counts = np.zeros((n_documents, W), np.int64)
    for d, probabilities in enumerate(theta @ beta):
        n = random.poisson(length) + 1
        counts[d] = random.multinomial(n, probabilities)
    return Minibatch.from_csr(csr_array(counts))


def planted_minibatches() -> list[Minibatch]:
    """300 such documents in minibatches of several sizes."""
    batch = planted_documents(300)
    return [batch[:64], batch[64:80], batch[80:81], batch[81:200], batch[200:]]


def describes_itself(make: Make) -> None:
    """Its class attributes are data of the right types, and no abstract method is left."""
    kind = make.kind
    assert not inspect.isabstract(kind), (
        f"expected no abstract method, found {kind.__abstractmethods__}"
    )
    for name in ("kind", "label"):
        assert isinstance(getattr(kind, name, None), str), f"expected {name} to be text"
    assert NAME.fullmatch(kind.kind), (
        f"expected kind to be of letters, digits, _ and -, found {kind.kind!r}"
    )
    for name in ("default_topics", "most_topics", "default_batch_size", "version"):
        assert isinstance(getattr(kind, name), int), f"expected {name} to be a whole number"
        assert getattr(kind, name) >= 1, f"expected {name} to be at least 1"
    assert kind.default_topics <= kind.most_topics, (
        "expected default_topics to be at most most_topics"
    )
    fault = fault_in(kind.options, TAKEN)
    assert not fault, f"expected each option to have a name of its own: {kind.kind} {fault}"
    for option in kind.options:
        if option.default is not None:
            converted = option.convert(str(option.default))
            assert converted == option.default, f"expected {option.name} to take its own default"
            default: dict[str, Any] = {option.name: option.default}
            make(**default)


def shapes_and_sums(make: Make) -> None:
    """What it returns has the right sizes, types and sums, before, during and after learning."""
    model = make()
    K = model.n_topics
    assert (K, model.n_words) == (TOPICS, W), f"expected {TOPICS} topics of {W} words"
    assert model.n_documents == 300, "expected n_documents as given"
    untouched = model.updates == 0 and model.rho == 0
    assert untouched, "expected no update and rho 0 before the first minibatch"
    # Topics and inference first, since other results are computed from them.
    check_rows("topics", model.topics(), (K, W))
    check_rows("infer", model.infer(planted_documents(9)), (9, K), np.float32)
    for t, batch in enumerate(planted_minibatches(), 1):
        check_rows("learn", model.learn(batch), (batch.D, K), np.float32)
        actual = f"found {model.updates}: learn must call _note_step once"
        assert model.updates == t, f"expected {t} updates after {t} minibatches, {actual}"
        assert 0 < model.rho <= 1, f"expected rho between 0 and 1, found {model.rho}"
    check_rows("infer", model.infer(batch), (batch.D, K), np.float32)
    check_rows("local_proportions", model.local_proportions(batch), (batch.D, K), np.float32)
    phi = model.word_topics(batch, model.infer(batch))
    check_rows("word_topics", phi, (len(batch.word_ids), K))
    _check_topics(model)
    declared = [metric.name for metric in model.metrics]
    for name, value in model.own_metrics(batch).items():
        assert name in declared, f"expected metrics to declare {name!r}, which own_metrics returns"
        number = isinstance(value, float) and math.isfinite(value)
        assert number, f"expected the metric {name} to be a finite float, found {value!r}"


def _check_topics(model: OnlineModel) -> None:
    """What it says of its topics has the right sizes, and agrees with `topics`."""
    K = model.n_topics
    topics = model.topics()
    check_rows("topics", topics, (K, W))
    check_rows("topic_shares", model.topic_shares(), (K,))
    ids = np.array([3, 1, 7])
    rows = model.topic_rows(ids)
    leading, probabilities = model.top_words(5)
    relevant = model.relevant_words(5, RELEVANCE)
    prior = model.document_prior()
    _check_shape("topic_rows", rows, (3, K))
    _check_shape("top_words", leading, (K, 5))
    _check_shape("relevant_words", relevant.ids, (K, 5))
    _check_shape("document_prior", prior, (K,))
    largest = -np.sort(-topics)[:, :5]
    of_leading = np.take_along_axis(topics, leading, axis=1)
    of_relevant = np.take_along_axis(topics, relevant.ids, axis=1)
    factors = lift_factors(model.topic_shares() @ topics, RELEVANCE)
    most_relevant = -np.sort(-topics * factors)[:, :5]
    found_relevant = of_relevant * factors[relevant.ids]
    _check_close(rows, topics[:, ids].T, "topic_rows are not those of topics")
    _check_close(probabilities, largest, "top_words are not the most probable")
    _check_close(probabilities, of_leading, "top_words are otherwise in topics")
    _check_close(found_relevant, most_relevant, "relevant_words are not the most relevant")
    _check_close(relevant.probabilities, of_relevant, "relevant_words are otherwise in topics")
    assert np.all(prior > 0), "expected a document_prior that is positive everywhere"
    assert 1 <= model.topics_in_use() <= K, f"expected from 1 to {K} topics in use"


def measuring_changes_nothing(make: Make) -> None:
    """Inferring, measuring and reading leave the state unchanged, including its random numbers."""
    model = make()
    first, second, third, *_ = planted_minibatches()
    model.learn(first)
    with _unchanged(model, "after infer and measuring"):
        theta = model.infer(second)
        model.word_topics(second, theta)
        model.local_proportions(second)
        model.own_metrics(second)
        model.topics()
        model.topic_shares()
        model.document_prior()
        model.topics_in_use()
        model.topic_rows(np.arange(3))
        model.top_words(3)
        model.relevant_words(3, RELEVANCE)
        document_completion(model, third)


def learns(make: Make) -> None:
    """After a few passes over planted topics it predicts better than word frequencies alone."""
    batch = planted_documents(300)
    held_out = planted_documents(80, seed=1)
    model = make(n_documents=1500)
    _read(model, batch, 64, times=5)
    # The score of a model that predicts each word by its frequency, in nats per word.
    frequency = np.bincount(batch.word_ids, batch.counts, minlength=W) / batch.n_tokens
    sum_of_logs = held_out.counts @ np.log(frequency[held_out.word_ids])
    score_of_frequencies = sum_of_logs / held_out.n_tokens
    least = score_of_frequencies + 0.2
    score = document_completion(model, held_out)
    better = f"with more than {least:.3f} nats per word, 0.2 better than by their frequencies alone"
    assert score > least, f"expected held-out words to be predicted {better}, found {score:.3f}"


def reading_on_does_no_harm(make: Make) -> None:
    """Reading long documents of a stationary stream again and again does not make it predict
    worse."""
    batch = planted_documents(300, length=1000, alpha=0.3, shared=0.5)
    held_out = planted_documents(80, seed=1, length=1000, alpha=0.3, shared=0.5)
    model = make(n_documents=1e6)
    _read(model, batch, 32, times=2)
    early = document_completion(model, held_out)
    _read(model, batch, 32, times=14)
    late = document_completion(model, held_out)
    expected = (
        "expected held-out words to be predicted no worse after 16 passes over a stream than "
        f"after 2, with {early:.3f} nats per word"
    )
    assert late > early - 0.1, f"{expected}, found {late:.3f}: do the steps become smaller?"


def unseen_words_are_possible(make: Make) -> None:
    """Held-out words that training never had get a probability above 0, so that there is a
    perplexity."""
    model = make()
    batch = planted_documents(300)
    known = batch.word_ids < W // 2
    # A document begins behind as many entries as are known before its first one.
    known_before = np.concatenate([[0], np.cumsum(known)])  # known entries before each entry
    indptr = known_before[batch.indptr]
    known_words = Minibatch(indptr, batch.word_ids[known], batch.counts[known])
    _read(model, known_words, 300, times=5)
    with np.errstate(divide="ignore"):
        score = document_completion(model, planted_documents(80, seed=1))
    expected = "expected a probability above 0 for held-out words that training never had"
    assert np.isfinite(score), f"{expected}: is every value of topics above 0?"


def nothing_to_learn_changes_nothing(make: Make) -> None:
    """A minibatch without documents leaves the state unchanged."""
    model = make()
    nothing = Minibatch([0], [], [])
    with _unchanged(model, "after a minibatch without documents"):
        check_rows("learn", model.learn(nothing), (0, TOPICS), np.float32)
        check_rows("infer", model.infer(nothing), (0, TOPICS), np.float32)


def documents_without_words_get_the_prior(make: Make) -> None:
    """Empty documents, alone or among others, do no harm; `infer` gives them the prior."""
    model = make()
    model.learn(Minibatch([0, 0, 2, 2], [3, 7], [1, 2]))
    model.learn(Minibatch([0, 0], [], []))
    model.learn(planted_minibatches()[0])
    prior = model.document_prior()
    prior = prior / prior.sum()
    theta = model.infer(Minibatch([0, 0, 0], [], []))
    close = np.allclose(theta, prior, rtol=0.05, atol=1e-6)
    assert close, "document_prior is not what infer gives a document without words"
    assert np.isfinite(model.topics()).all(), "expected finite topics after documents without words"


def words_out_of_range_are_refused(make: Make) -> None:
    """A word id beyond the vocabulary raises ValueError before anything has changed."""
    model = make()
    model.learn(planted_minibatches()[0])
    with _unchanged(model, "after a word id out of range was refused"):
        for use in (model.learn, model.infer, model.local_proportions):
            refused = _refuses(use, Minibatch([0, 1, 2], [1, W], [1, 1]))
            assert refused, (
                f"expected a ValueError of {use.__name__} for the word id {W} of {W} words"
            )


def one_seed_one_result(make: Make) -> None:
    """The same bits for the same seed from any number of threads, and different ones for another
    seed."""
    model = make()
    again = make()
    three = make(threads=3)
    other = make(seed=4)
    assert (model.threads, three.threads) == (1, 3), "expected threads as given"
    twins = {
        "from two models of one seed: draw only from self._random": again,
        "from 1 and from 3 threads": three,
    }
    # The last one is large enough to be divided among threads.
    for batch in (*planted_minibatches(), planted_documents(MANY, seed=2)):
        theta = model.learn(batch)
        other.learn(batch)
        for how, twin in twins.items():
            _check_equal(theta, twin.learn(batch), f"the same {how}")
            _check_equal(model.topics(), twin.topics(), f"the same {how}")
    for how, twin in twins.items():
        _check_equal(model.infer(batch), twin.infer(batch), f"the same inference {how}")
        _check_same(model.state(), twin.state(), how)
    same = np.array_equal(model.topics(), other.topics())
    assert not same, "expected different topics from a different seed"


def going_on_equals_never_stopping(make: Make) -> None:
    """Saved as .npz at any point, even before the first minibatch, it continues with the same
    bits."""
    straight = make()
    resumed = make()
    first = planted_minibatches()[0]
    # None: nothing is learnt yet, but the model is saved.
    for t, batch in enumerate((None, *planted_minibatches())):
        if batch is not None:
            expected = (
                f"minibatch {t} to be learnt alike, resumed or not: is all that learn uses in "
                "entries?"
            )
            _check_equal(straight.learn(batch), resumed.learn(batch), expected)
        resumed = make.kind.from_state(_through_a_file(resumed.state()))
        resumed.threads = 2
        when = f"after {t} minibatches, resumed or not"
        _check_same(straight.state(), resumed.state(), when)
        _check_equal(straight.topics(), resumed.topics(), f"the same topics {when}")
        _check_equal(straight.infer(first), resumed.infer(first), f"the same inference {when}")


def a_half_life_is_a_floor_of_rho(make: Make) -> None:
    """With that option, no step forgets less than it requires; without it, the state has no
    half-life."""
    names = [option.name for option in make.kind.options]
    if HALF_LIFE.name not in names:
        return
    assert HALF_LIFE.name not in make().state(), (
        "expected a state without half_life where none is given"
    )
    given = make(half_life=HALF_LIFE.least)
    model = make.kind.from_state(_through_a_file(given.state()))
    for batch in planted_minibatches():
        model.learn(batch)
        least = 1 - 0.5 ** (batch.D / HALF_LIFE.least)
        assert model.rho >= least - 1e-9, f"expected rho from {least:.3f}, found {model.rho:.3f}"


def a_state_is_a_copy_that_knows_its_kind(make: Make) -> None:
    """Further learning leaves an earlier state unchanged; another kind's state raises
    ValueError."""
    model = make()
    first, second, *_ = planted_minibatches()
    model.learn(first)
    state = model.state()
    assert state.get("kind") == make.kind.kind, (
        f"expected the state's kind to be {make.kind.kind!r}"
    )
    earlier = deepcopy(state)
    copy = make.kind.from_state(state)
    copy.learn(second)
    model.learn(second)
    _check_same(earlier, state, "of a state, whatever its models have learnt since")
    refused = _refuses(make.kind.from_state, {**state, "kind": "other"})
    assert refused, "expected a ValueError of from_state for the state of another kind"


def extremes_stay_finite(make: Make) -> None:
    """A very long document, fractional counts and a vocabulary of one word leave everything
    finite."""
    model = make()
    every_word = range(W)
    long = Minibatch([0, W], every_word, [50_000 // W] * W)
    fractional = Minibatch([0, W], every_word, np.linspace(0.01, 2, W))
    for batch in (long, fractional):
        check_rows("learn", model.learn(batch), (1, TOPICS), np.float32)
        check_rows("infer", model.infer(batch), (1, TOPICS), np.float32)
        check_rows("topics", model.topics(), (TOPICS, W))
    single = make.kind.create(2, 1, 5, make.options)
    check_rows("topics", single.topics(), (2, 1))
    of_single_word = Minibatch([0, 1, 2], [0, 0], [3, 1])
    check_rows("learn", single.learn(of_single_word), (2, 2), np.float32)
    check_rows("topics", single.topics(), (2, 1))


def options_out_of_range_are_refused(make: Make) -> None:
    """A value that an option does not take raises ValueError when a model is made."""

    def made_with(option: dict[str, Any]) -> None:
        make(**option)

    for option in make.kind.options:
        for value in (option.above, option.least - 1, option.most + 1, math.nan):
            # A missing bound is infinite, and a bound may be so large that adding 1 does not change
            # it. A value that the option itself takes is no test of the model.
            is_unbounded = math.isinf(value)
            if is_unbounded or not _refuses(option.convert, value):
                continue
            refused = _refuses(made_with, {option.name: value})
            why = f"as it must be {option.takes()}: __init__ must take it by Option.value"
            assert refused, f"expected a ValueError for {option.name}={value:g}, {why}"


CHECKS: tuple[Callable[[Make], None], ...] = (
    describes_itself,
    shapes_and_sums,
    measuring_changes_nothing,
    learns,
    reading_on_does_no_harm,
    unseen_words_are_possible,
    nothing_to_learn_changes_nothing,
    documents_without_words_get_the_prior,
    words_out_of_range_are_refused,
    one_seed_one_result,
    going_on_equals_never_stopping,
    a_half_life_is_a_floor_of_rho,
    a_state_is_a_copy_that_knows_its_kind,
    extremes_stay_finite,
    options_out_of_range_are_refused,
)


def _read(model: OnlineModel, batch: Minibatch, size: int, times: int) -> None:
    """Learn the documents in minibatches of this size, `times` times."""
    for _ in range(times):
        for start in range(0, batch.D, size):
            model.learn(batch[start : start + size])


def _through_a_file(state: State) -> dict[str, NDArray[Any]]:
    """The state as a model finds it again in a file."""
    for name, value in state.items():
        expected = f"expected {name} to be a finite number, a flag, a text or an array of numbers"
        assert _fits_a_file(value), f"{expected}: {value!r:.60}"
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **state)
    file.seek(0)
    with np.load(file) as arrays:
        return dict(arrays)


def _fits_a_file(value: Plain) -> bool:
    """Whether it is a finite number, a flag, a text or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf" and value.ndim <= 4
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int | str)


def _refuses(take: Callable[[Any], object], value: object) -> bool:
    """Whether `take` raises ValueError for this value."""
    try:
        take(value)
    except ValueError:
        return True
    return False


@contextmanager
def _unchanged(model: OnlineModel, when: str) -> Iterator[None]:
    """Compare the model's state before and after."""
    before = model.state()
    yield
    _check_same(before, model.state(), when)


def check_rows(
    name: str,
    rows: object,
    shape: tuple[int, ...],
    dtype: type[np.floating] | None = None,
) -> None:
    """Raise AssertionError unless the method `name` gave an array of this shape and type, with no
    number below 0, and each row summing to 1."""
    assert isinstance(rows, np.ndarray), f"expected {name} to give an array, found {rows!r:.60}"
    assert rows.shape == shape, f"expected {name} to give the shape {shape}, found {rows.shape}"
    if dtype is not None:
        assert rows.dtype == dtype, f"expected {name} to give {dtype}, found {rows.dtype}"
    assert np.isfinite(rows).all(), f"expected finite numbers in what {name} gives"
    assert np.all(rows >= 0), f"expected no number below 0 in what {name} gives"
    close = np.allclose(rows.sum(axis=-1, dtype=np.float64), 1, rtol=1e-4)
    assert close, f"expected sums of 1 in what {name} gives"


def _check_shape(name: str, array: object, shape: tuple[int, ...]) -> None:
    actual = getattr(array, "shape", repr(array))
    assert actual == shape, f"expected {name} of shape {shape}, found {actual!s:.60}"


def _check_close(numbers: NDArray[Any], expected: NDArray[Any], otherwise: str) -> None:
    assert np.allclose(numbers, expected, rtol=1e-5, atol=1e-9), otherwise


def _check_equal(one: Plain, other: Plain, expected: str) -> None:
    assert np.array_equal(one, other), f"expected {expected}"


def _check_same(one: State, other: State, when: str) -> None:
    """Two states are equal to the bit and in type."""
    in_one_only = one.keys() ^ other.keys()
    assert not in_one_only, f"expected the same keys {when}, found {in_one_only} in one only"
    for name in one:
        of_one = _type_of(one[name])
        of_other = _type_of(other[name])
        types = f"found {of_one} and {of_other}: store it as the Entry's type"
        assert of_one == of_other, f"expected {name} to be of the type of its Entry, {types}"
        _check_equal(one[name], other[name], f"the same {name} {when}")


def _type_of(value: Plain) -> str:
    """The dtype of an array, otherwise the type."""
    return str(value.dtype) if isinstance(value, np.ndarray) else type(value).__name__
