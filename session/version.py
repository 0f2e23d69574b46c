"""The version, alone, so that `wikitopics --version` imports nothing else."""

__version__ = "1.0.0"
