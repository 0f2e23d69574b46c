"""The session file: one SQLite database, and the code that reads or writes it. Computes nothing."""
