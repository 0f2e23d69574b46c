"""The pieces that the views are made of."""
