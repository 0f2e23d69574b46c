"""One training session: what its rooms share. Rooms: storage, training, answers, doors."""
