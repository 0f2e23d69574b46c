"""The models as scikit-learn transformers; `wikitopics.sklearn` re-exports them.

Needs scikit-learn 1.6 or later, which only this module imports.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from wikitopics.model import Minibatch, OnlineModel, document_completion, kinds, mixture
from wikitopics.model.exported import ExportError, read
from wikitopics.model.minibatch import native

STREAM_DOCUMENTS = 1_000_000
"""The assumed size of the corpus of which `partial_fit` sees a part."""
STEPS_A_PASS = 10
"""The fewest steps of a pass of `fit`, if there are enough documents."""
_NOT_OPTIONS = {"n_topics", "max_topics", "n_words", "n_documents", "seed", "threads"}
"""The arguments of a model that follow from the estimator's other parameters or from X."""


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators. X is (D, W), dense or sparse: how often each word occurs, or
    its weight.

    n_components: K, the number of topics (of the HDP: the most there can be)
    n_documents: size of the corpus; None: that of X in `fit`, a million in `partial_fit`
    batch_size: documents per step; None: the model's own, in `fit` at most a tenth of X
    n_passes: passes over X in `fit`
    options: further arguments of the model, such as {"alpha": 0.1}; each is also an argument of the
        estimator (alpha=0.1), so that a parameter search can set it
    verbose: whether `fit` prints a line for each pass
    random_state, n_jobs: as everywhere in scikit-learn; the result does not depend on n_jobs

    After fitting, `model_` is the model and `components_` its topics, (K, W), rows sum to 1.
    `vocabulary_` holds the words, (W,) str, of an estimator loaded from a file of `wikitopics
    export model`, or is None.
    """

    kind: ClassVar[str]
    option_names: ClassVar[tuple[str, ...]] = ()
    """The options of the kind; None means the model's default."""
    model_: OnlineModel
    vocabulary_: NDArray[np.str_] | None = None

    def __init__(
        self,
        n_components: int = 100,
        *,
        n_documents: float | None = None,
        batch_size: int | None = None,
        n_passes: int = 10,
        options: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        """Each kind has its own, which sets these and its options as attributes:
        `__init_subclass__`."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Give the class an ``__init__`` with the options of its kind: scikit-learn reads its
        signature."""
        super().__init_subclass__(**more)
        if "kind" not in vars(cls):
            return  # a user's class, which may have an ``__init__`` of its own
        model = kinds.load(cls.kind)
        of_model = signature(model).parameters
        cls.option_names = tuple(name for name in of_model if name not in _NOT_OPTIONS)
        options = []
        for name in cls.option_names:
            options.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None))
            # Estimators that were pickled by 1.1.0 have no options of their own.
            setattr(cls, name, None)
        common = signature(TopicEstimator.__init__)
        with_options = common.replace(parameters=[*common.parameters.values(), *options])
        _, *names = with_options.parameters  # all but self

        def __init__(self: TopicEstimator, *positional: Any, **named: Any) -> None:
            try:
                bound = with_options.bind(self, *positional, **named)
            except TypeError as error:
                known = ", ".join(names)
                raise TypeError(f"{cls.__name__} {error}; it takes {known}") from None
            bound.apply_defaults()
            for name in names:
                setattr(self, name, bound.arguments[name])

        __init__.__signature__ = with_options  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics afresh from the documents X, `n_passes` times in minibatches; y is
        ignored."""
        batch = self._documents(X, reset=True)
        self.model_ = self._new_model(batch.D)
        self.vocabulary_ = None
        if mixture.largest_share(mixture.number_of_words(batch), batch.D):
            # The topics of short texts start from the first ones, which therefore must not be those
            # of one subject: collections are often sorted.
            order = check_random_state(self.random_state).permutation(batch.D)
            batch = batch.take(order)
        usual_size = min(self.model_.default_batch_size, batch.D // STEPS_A_PASS)
        size = self.batch_size or max(1, usual_size)
        for number in range(1, self.n_passes + 1):
            began = time.perf_counter()
            self._learn(batch, size, number, self.n_passes)
            if self.verbose:
                took = time.perf_counter() - began
                print(f"pass {number:,} of {self.n_passes:,}: {took:.1f} s")  # noqa: T201 (as scikit-learn's do)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Continue learning with the documents X, once; y is ignored.

        Raises ValueError for an estimator loaded from a file of `wikitopics export model`.
        """
        if self.vocabulary_ is not None:
            raise ValueError(
                "a file of `wikitopics export model` holds topics but no state to continue from: "
                "use wikitopics.open(SESSION).model(), or fit again"
            )
        started = hasattr(self, "model_")
        batch = self._documents(X, reset=not started)
        if not started:
            self.model_ = self._new_model(STREAM_DOCUMENTS)
        self._learn(batch, self.batch_size or self.model_.default_batch_size)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """(D, K) topic proportions of documents, rows sum to 1."""
        check_is_fitted(self)
        return self.model_.infer(self._documents(X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:
        """Document completion on X, nats per held-out word: higher is better ([SVI13] section
        4)."""
        check_is_fitted(self)
        return document_completion(self.model_, self._documents(X, reset=False))

    def perplexity(self, X: Any, y: Any = None) -> float:
        """exp(-`score`), per held-out word: lower is better."""
        return math.exp(-self.score(X))

    def top_words(self, n: int = 10, feature_names: Any = None) -> list[list[str]]:
        """The n most probable words of every topic, most probable first.

        ``feature_names``: the words of X's columns, such as
        `CountVectorizer.get_feature_names_out()`; None: those of X in `fit`, if X was a table, or
        of the file that was loaded. Raises ValueError if the words are not known, or if there is
        not one for each column.
        """
        check_is_fitted(self)
        names = feature_names
        if names is None:
            names = getattr(self, "feature_names_in_", self.vocabulary_)
        if names is None:
            raise ValueError("top_words needs feature_names: the words of X's columns")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"{len(names):,} feature_names for {self.n_features_in_:,} columns of X"
            )
        ids, _ = self.model_.top_words(n)
        return [[str(names[word]) for word in topic] for topic in ids.tolist()]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """(K,) "topic0", "topic1" …, the names of the columns of `transform`; input_features are
        only checked."""
        columns = super().get_feature_names_out(input_features)
        return np.array([f"topic{k}" for k in range(len(columns))], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.model_.n_topics

    @property
    def components_(self) -> NDArray[Any]:
        """(K, W) topics, rows sum to 1."""
        check_is_fitted(self)
        return self.model_.topics()

    def _new_model(self, documents: float) -> OnlineModel:
        """A new model. ``documents``: the size of the corpus, unless `n_documents` is given. Raises
        ValueError and TypeError for parameters out of range."""
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_scalar(self.n_passes, "n_passes", Integral, min_val=1)
        if self.batch_size is not None:
            check_scalar(self.batch_size, "batch_size", Integral, min_val=1)
        if self.n_documents is not None:
            check_scalar(self.n_documents, "n_documents", Real)
        kind = kinds.load(self.kind)
        threads = effective_n_jobs(self.n_jobs)
        options = dict(self.options or {})
        for name in options:
            if name not in self.option_names:
                known = ", ".join(self.option_names)
                raise ValueError(f"options: {type(self).__name__} has no {name!r}; it has {known}")
        for name in self.option_names:
            value = getattr(self, name)
            if value is not None:
                options[name] = value
        D = documents if self.n_documents is None else self.n_documents
        seed = int(check_random_state(self.random_state).randint(2**31))
        return kind.create(self.n_components, self.n_features_in_, D, options, seed, threads)

    def _learn(self, batch: Minibatch, size: int, number: int = 1, passes: int = 1) -> None:
        """Learn the documents once, in pass ``number`` of ``passes``."""
        model = self.model_
        for start in range(0, batch.D, size):
            left = passes - number + 1 - start / batch.D
            model.passes_left = left if number > 1 else None
            model.rereads_later = number == 1 and passes > 1
            model.learn(batch[start : start + size])

    def _documents(self, X: Any, reset: bool) -> Minibatch:
        """X as a minibatch. ``reset``: whether its columns are those of a new model. Raises
        ValueError for anything but counts."""
        if _are_texts(X):
            name = type(self).__name__
            raise ValueError(f"{name} takes word counts, not texts: put CountVectorizer before it")
        X = validate_data(self, X, reset=reset, accept_sparse="csr")
        check_non_negative(X, type(self).__name__)
        if not issparse(X):
            X = csr_array(native(X))
        counts = X.data
        if counts.dtype == np.bool_:
            counts = counts.astype(np.int32)
        return Minibatch(X.indptr, X.indices, counts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = state["model_"].state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self.model_ = kinds.load(self.kind).from_state(state["model_"])
            self.model_.threads = effective_n_jobs(self.n_jobs)


class OnlineLDAEstimator(TopicEstimator):
    __doc__ = f"Online LDA as a scikit-learn transformer.\n\n{TopicEstimator.__doc__}"
    kind = "lda"


class SCVB0Estimator(TopicEstimator):
    __doc__ = f"SCVB0 as a scikit-learn transformer.\n\n{TopicEstimator.__doc__}"
    kind = "scvb0"


class OnlineHDPEstimator(TopicEstimator):
    __doc__ = f"The online HDP as a scikit-learn transformer.\n\n{TopicEstimator.__doc__}"
    kind = "hdp"


def load(path: str | Path) -> TopicEstimator:
    """A fitted estimator from a file that `wikitopics export model` wrote; nothing in it is
    unpickled.

    If the model had the default settings of its kind and its texts were not short, `transform`
    gives the same proportions as the exported model's `infer`, up to rounding. The file holds only
    topics and prior, so `partial_fit` cannot continue from it, and `fit` discards it: put the
    estimator into a pipeline as `FrozenEstimator(load(path))`. Raises OSError if there is no such
    file, and ValueError, with one line, if the file is not an export.
    """
    exported = read(path)
    for estimator_class in (OnlineLDAEstimator, SCVB0Estimator, OnlineHDPEstimator):
        if estimator_class.kind == exported.kind:
            K, W = exported.topics.shape
            estimator = estimator_class(n_components=K)
            estimator.model_ = exported.model()
            estimator.vocabulary_ = exported.vocabulary
            estimator.n_features_in_ = W
            return estimator
    raise ExportError(
        f"{path} holds a model of kind {exported.kind[:40]!r}, which has no estimator: "
        "use wikitopics.open(SESSION).model()"
    )


def _are_texts(X: Any) -> bool:
    """Whether X holds texts or their words, which scikit-learn would print back."""
    if isinstance(X, str | Iterator):
        return True
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    if not isinstance(rows, list | tuple):
        dtype = getattr(rows, "dtype", np.dtype(float))
        if dtype.kind not in "OUT":
            return False
    for row in rows:
        cells = row if isinstance(row, list | tuple | np.ndarray) else [row]
        if any(isinstance(cell, str) for cell in cells):
            return True
    return False
