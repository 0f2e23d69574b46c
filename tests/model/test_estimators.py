"""The scikit-learn face, with scikit-learn's own checks where they apply."""

import importlib
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from tests.model.conftest import planted, planted_batch, read
from tests.packages import needs_scikit_learn
from wikitopics.model import document_completion, kinds

pytestmark = needs_scikit_learn


ESTIMATORS = ["OnlineLDAEstimator", "SCVB0Estimator", "OnlineHDPEstimator"]


def estimator_class(name):
    """The class of this name, whose module loads only where scikit-learn is installed."""
    return getattr(importlib.import_module("wikitopics.model.estimators"), name)


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    """Each class of estimators."""
    return estimator_class(request.param)


def matrix_of(batch):
    """The documents as scikit-learn takes them: a sparse matrix (D, W) of word counts."""
    return csr_array((batch.counts, batch.word_ids, batch.indptr), shape=(batch.D, 40))


CHECKS_NOT_PASSED = {"check_array_api_input"}
"""scikit-learn runs this one only where SCIPY_ARRAY_API is set, and the estimators take and give
only numpy's arrays."""
CHECKS_OF_ITS_OWN_ESTIMATORS = [
    "check_dataframe_column_names_consistency",
    "check_n_features_in_after_fitting",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]
"""`check_estimator` leaves these out for estimators that are not scikit-learn's own."""


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
def test_passes_scikit_learns_checks(estimator):
    from sklearn.utils import estimator_checks

    tried = estimator(n_components=2, n_passes=1)
    results = estimator_checks.check_estimator(tried, on_skip=None, on_fail=None)
    not_passed = [result["check_name"] for result in results if result["status"] != "passed"]
    assert set(not_passed) == CHECKS_NOT_PASSED
    for name in CHECKS_OF_ITS_OWN_ESTIMATORS:
        check = getattr(estimator_checks, name)
        check(estimator.__name__, tried)


def test_a_search_reaches_the_options_of_the_kind(estimator):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    X = matrix_of(planted_batch(90))
    tried = estimator(2, n_passes=1, random_state=0)
    search = GridSearchCV(tried, {"alpha": [0.01, 5.0]}, cv=2)
    search.fit(X)
    best = search.best_estimator_
    with_dict_of_options = clone(best)
    with_dict_of_options.set_params(alpha=None, options={"alpha": best.alpha})
    with_dict_of_options.fit(X)
    assert (with_dict_of_options.transform(X) == best.transform(X)).all()


def test_parameters_that_are_wrong_or_unknown_are_named(estimator):
    X = matrix_of(planted_batch(90))
    with pytest.raises(ValueError, match=r"^eta must be .*, not -1$"):
        estimator(2, eta=-1).fit(X)
    with pytest.raises(ValueError, match=r"^options: .* has no 'etta'; it has alpha, .*eta"):
        estimator(2, options={"etta": 1}).fit(X)
    # The constructors of the models have these parameters, but they are no options.
    for name in ("seed", "threads", "n_words", "n_documents", "self"):
        with pytest.raises(ValueError, match=f"^options: .* has no '{name}'; it has alpha"):
            estimator(2, options={name: 1}).fit(X)
    with pytest.raises(TypeError, match=r"^n_components must be an instance of int, not NoneType"):
        estimator(n_components=None).fit(X)
    with pytest.raises(TypeError, match=r"^n_passes must be an instance of int, not NoneType"):
        estimator(n_passes=None).fit(X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'etta'"):
        estimator(2, etta=1)


def test_partial_fit_is_the_models_own_learning(estimator):
    batch, _ = planted(300)
    X = matrix_of(batch)
    fitted = estimator(n_components=4, n_documents=300, batch_size=50, random_state=0)
    fitted.partial_fit(X[:150])
    fitted.partial_fit(X[150:])
    # As scikit-learn's estimators do, ours draw the seed from the random state that they are given.
    seed = np.random.RandomState(0).randint(2**31)
    model = kinds.load(estimator.kind).create(4, 40, 300, seed=seed)
    read(model, batch, 50)
    np.testing.assert_array_equal(fitted.components_, model.topics())
    np.testing.assert_array_equal(fitted.transform(X), model.infer(batch))
    assert fitted.score(X) == document_completion(model, batch)


def test_pickled_estimators_go_on_as_the_original(estimator):
    from sklearn.base import clone

    X = matrix_of(planted_batch(300))
    fitted = estimator(n_components=4, random_state=0, n_jobs=2).partial_fit(X[:200])
    again = pickle.loads(pickle.dumps(fitted))
    fitted.partial_fit(X[200:])
    again.partial_fit(X[200:])
    np.testing.assert_array_equal(fitted.components_, again.components_)
    assert again.model_.threads == 2
    assert again.score(X) == fitted.score(X)
    assert fitted.score(X) == pytest.approx(-np.log(fitted.perplexity(X)))
    assert not hasattr(clone(fitted), "model_")


def test_the_state_that_was_pickled_is_checked():
    lda = estimator_class("OnlineLDAEstimator")
    X = matrix_of(planted_batch(20))
    fitted = lda(3, n_passes=1).fit(X)
    pickled = fitted.__getstate__()
    state_of_model = pickled["model_"]
    state_of_model["alpha"] = state_of_model["alpha"][1:]  # two numbers for three topics
    with pytest.raises(ValueError, match="alpha"):
        lda().__setstate__(pickled)


def test_the_same_counts_in_any_form_are_the_same_documents(estimator):
    from sklearn.base import clone

    X = matrix_of(planted_batch(60))
    dense = X.toarray()
    fitted = estimator(n_components=3, n_passes=1, random_state=1).fit(X)
    theta = fitted.transform(X)
    big_endian = X.copy()
    big_endian.data = big_endian.data.astype(">f4")
    forms = [dense, big_endian, X.tocsc(), X.tocoo()]
    for dtype in (np.uint8, np.float16, np.float32, ">f2", ">f4", ">f8", ">i8"):
        forms.append(dense.astype(dtype))
    for form in forms:
        again = clone(fitted).fit(form)
        np.testing.assert_array_equal(again.transform(form), theta)


def test_a_data_frame_names_the_words_and_the_topics(estimator):
    from sklearn.base import clone

    X = matrix_of(planted_batch(60))
    fitted = estimator(n_components=3, n_passes=1, random_state=1).fit(X)
    words = [f"word{w}" for w in range(40)]
    frame = pd.DataFrame(X.toarray(), columns=words)
    of_frame = clone(fitted).fit(frame)
    np.testing.assert_array_equal(of_frame.transform(frame), fitted.transform(X))
    assert list(of_frame.feature_names_in_) == words
    of_frame.set_output(transform="pandas")
    assert list(of_frame.transform(frame)) == ["topic0", "topic1", "topic2"]
    with pytest.raises(ValueError, match="feature names should match"):
        of_frame.transform(frame[words[::-1]])


def test_true_and_false_are_taken_as_counts_of_one_and_zero(estimator):
    X = matrix_of(planted_batch(60))
    occurs = X.toarray() > 0
    fitted = estimator(n_components=3, n_passes=1, random_state=1).fit(occurs)
    of_numbers = fitted.transform(occurs.astype(int))
    np.testing.assert_array_equal(fitted.transform(X > 0), of_numbers)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(-1, "Negative values"), (np.nan, "contains NaN"), (np.inf, "contains infinity")],
)
def test_refuses_what_are_no_counts(wrong, message):
    dense = [[wrong, 2.0]]
    for X in (dense, csr_array(dense)):
        with pytest.raises(ValueError, match=message):
            estimator_class("SCVB0Estimator")(n_components=2).fit(X)


@pytest.mark.parametrize("name", ["n_components", "n_passes", "batch_size"])
def test_refuses_sizes_that_are_no_whole_numbers_from_1(name):
    for wrong in (0, -5, 2.5):
        with pytest.raises((ValueError, TypeError), match=name):
            estimator_class("SCVB0Estimator")(**{name: wrong}).fit([[1, 2]])


def test_each_kind_of_model_has_an_estimator():
    kinds_of_estimators = [estimator_class(name).kind for name in ESTIMATORS]
    assert kinds_of_estimators == list(kinds.names())


@pytest.mark.parametrize(
    "texts",
    [
        "one text",
        ["a text", "another"],
        [["some", "words"], ["of", "two"]],
        np.array(["a", "b"]),
        np.array(["a", None], dtype=object),
        pd.Series(["a text", "another"]),
        pd.Series(["a text", None, np.nan], dtype="string"),
        pd.DataFrame({"text": ["a text", "another"]}),
        (text for text in ["a text", "another"]),
        map(str, [1, 2]),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_texts_in_place_of_counts_are_refused_in_one_short_line(estimator, texts):
    message = f"^{estimator.__name__} takes word counts, not texts: put CountVectorizer before it$"
    with pytest.raises(ValueError, match=message):
        estimator().fit(texts)


WORDS = ["word0", "word1", "word2", "word3"]
COUNTS = np.array([[9, 1, 0, 0], [0, 0, 9, 1]] * 20)


def test_top_words_take_the_names_of_words_from_the_caller_or_from_a_data_frame(estimator):
    fitted = estimator(n_components=2, random_state=0, n_passes=3).fit(COUNTS)
    word_ids, _ = fitted.model_.top_words(3)
    expected = [[WORDS[word_id] for word_id in ids_of_topic] for ids_of_topic in word_ids]
    assert fitted.top_words(3, WORDS) == expected
    all_words = fitted.top_words(feature_names=np.array(WORDS))
    assert [len(words_of_topic) for words_of_topic in all_words] == [4, 4]
    with pytest.raises(ValueError, match="top_words needs feature_names"):
        fitted.top_words()
    with pytest.raises(ValueError, match="3 feature_names for 4 columns"):
        fitted.top_words(feature_names=WORDS[:3])
    frame = pd.DataFrame(COUNTS, columns=WORDS)
    of_frame = estimator(n_components=2, random_state=0, n_passes=1).fit(frame)
    for (word,) in of_frame.top_words(1):
        assert word in WORDS


def test_progress_is_printed_only_if_asked_for(estimator, capsys):
    estimator(n_components=2, random_state=0, n_passes=3, verbose=1).fit(COUNTS)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "pass 1 of 3",
        "pass 2 of 3",
        "pass 3 of 3",
    ]
    estimator(n_components=2, random_state=0, n_passes=1).fit(COUNTS)
    assert capsys.readouterr().out == ""


def test_a_subclass_of_the_users_has_the_parameters_of_its_own_init(estimator):
    class Ours(estimator):
        def __init__(self, n_components=4):
            super().__init__(n_components=n_components)

    assert Ours().n_components == 4


def test_an_older_pickle_has_no_options_of_the_kind_and_can_be_fitted(estimator):
    older = pickle.loads(pickle.dumps(estimator(n_components=3)))
    # Estimators have an attribute for each option of the kind; older ones had none.
    for name in older.option_names:
        del older.__dict__[name]
    assert "alpha" not in repr(older)
    fitted = older.fit([[1, 2], [2, 1]])
    assert fitted.get_params()["alpha"] is None
