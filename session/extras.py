"""Every extra that can be installed, with its purpose; `doctor` and all messages use this table."""

from wikitopics.crawler.extras import ZST, Extra

__all__ = ["DASK", "EXTRAS", "INTEROP", "NOTEBOOK", "PARQUET", "REPORT", "SKLEARN", "ZST", "Extra"]

SKLEARN = Extra("sklearn", ("scikit-learn",), "the models as scikit-learn estimators (`wikitopics.sklearn`)")
REPORT = Extra("report", ("matplotlib", "jinja2"), "`wikitopics report`")
INTEROP = Extra(
    "interop",
    ("gensim", "pyLDAvis", "selenium", "nbclient", "ipykernel", "duckdb", "polars"),
    "`export model --format gensim`, and tests against other programs",
)
DASK = Extra("dask", ("distributed", "dask"), "`train --cluster`")

PARQUET = Extra("parquet", ("pyarrow",), "`export --format parquet`")
NOTEBOOK = Extra("notebook", ("pandas", "tqdm"), "data frames and progress bars in Python")

EXTRAS = (SKLEARN, NOTEBOOK, PARQUET, ZST, REPORT, INTEROP, DASK)
