"""A little Wikipedia on loopback: for the demo, for the tests, and for trying what a wiki can do wrong."""
