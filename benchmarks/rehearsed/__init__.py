"""A whole Wikipedia through one session, whose trainer is killed again and again."""
