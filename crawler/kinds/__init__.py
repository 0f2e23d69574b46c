"""The kinds of sources in this room: their names, options, stored values, and how they are opened."""
