"""A small Wikipedia on loopback, for the demo, for tests, and for simulating what can go wrong on a wiki."""
