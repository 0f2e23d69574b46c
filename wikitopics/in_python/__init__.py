"""`wikitopics.train` and `vary_topics`, by subject; the run is in `run.py`."""
