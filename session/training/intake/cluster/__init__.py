"""Counting on the workers of a Dask cluster: the only place that speaks to Dask."""
