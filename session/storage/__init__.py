"""The session file: one SQLite database, and everything that reads or writes it. Computes nothing."""
