"""One run of a trainer, from start to end: its work, its orders, its reports."""
