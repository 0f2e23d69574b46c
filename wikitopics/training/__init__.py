"""`wikitopics.train`, by subject; its run is in `run.py`."""
