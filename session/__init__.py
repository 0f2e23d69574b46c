"""One training session: the modules that its rooms share. Rooms: storage, training, analysis,
control."""

__version__ = "1.3.0"
