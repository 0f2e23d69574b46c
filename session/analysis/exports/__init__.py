"""Exports of a session for other programs: `tables` has what is exported, `formats` how it is written."""
