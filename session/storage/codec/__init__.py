"""What a session file holds: a module a record, with its way out of the file and into it, as pure functions.

Every function that decodes raises :class:`session.errors.Damaged` for a row that no session of ours has.
"""
