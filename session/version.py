"""The version, alone, so that `wikitopics --version` imports nothing else."""

__version__ = "0.1.0"
