"""A bar of progress that tells what it was told."""


class Bar:
    """As much of tqdm's as is used."""

    def __init__(self, total, unit, **_):
        self.total = total
        self.unit = unit
        self.n = 0
        self.closed = False

    def update(self, n):
        self.n += n

    def close(self):
        self.closed = True
