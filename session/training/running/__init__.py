"""One run of a trainer, from its start to its end: what goes on, what it is told, what it says."""
