"""One module per table, or for a few that belong together: all that is known about their columns."""
