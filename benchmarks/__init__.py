"""What README and docs claim about speed, quality and sturdiness, measured: `python -m
benchmarks`."""
