"""Counting on the workers of a Dask cluster: the only room that uses Dask."""
