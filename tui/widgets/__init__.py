"""The pieces that make up the views."""
