"""The contents of a session file: one module per record, with pure functions to encode and decode it.

Every decoding function raises `Damaged` for a row that no session of ours can have.
"""
