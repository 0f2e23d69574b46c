"""Questions and answers over the views."""
