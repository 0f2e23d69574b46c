"""Every extra that a user may install and what it is for: `doctor` and all messages read this one table."""

from crawler.extras import ZST, Extra

__all__ = ["DASK", "EXTRAS", "INTEROP", "REPORT", "SKLEARN", "ZST", "Extra"]

SKLEARN = Extra("sklearn", ("scikit-learn",), "the models as scikit-learn estimators (`wikitopics.sklearn`)")
REPORT = Extra("report", ("matplotlib", "jinja2"), "`wikitopics report`")
INTEROP = Extra(
    "interop",
    ("gensim", "pyLDAvis", "selenium"),
    "`export model --format gensim`, and tests against other programs",
)
DASK = Extra("dask", ("distributed", "dask"), "`train --cluster`")

EXTRAS = (SKLEARN, ZST, REPORT, INTEROP, DASK)
