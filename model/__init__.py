"""The mathematics of the papers, on arrays."""
