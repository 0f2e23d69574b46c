"""The version, in a module of its own so that `wikitopics --version` imports nothing else."""

__version__ = "1.1.0"
