"""What is measured: each module is a part, and says so by its `EXPERIMENT`."""
