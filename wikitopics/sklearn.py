"""The models as scikit-learn transformers, and loading a trained one from a file.

    make_pipeline(CountVectorizer(), SCVB0Estimator(n_components=50)).fit_transform(texts)
    load("model.npz").transform(counts)  # what `wikitopics export model -o model.npz` wrote

Needs scikit-learn 1.6 or later: `pip install wikitopics[sklearn]`.
"""

try:
    from wikitopics.model.estimators import (
        OnlineHDPEstimator,
        OnlineLDAEstimator,
        SCVB0Estimator,
        load,
    )
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("sklearn", "joblib"):
        raise
    from wikitopics.extra import SKLEARN

    raise ImportError(SKLEARN.needed("wikitopics.sklearn"), name=error.name) from None

__all__ = ["OnlineHDPEstimator", "OnlineLDAEstimator", "SCVB0Estimator", "load"]
