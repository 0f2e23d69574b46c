"""Articles in: sources, manners towards the wiki, markup to prose. Knows no model and no SQLite."""
