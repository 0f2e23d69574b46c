"""A replay: the session as it was after each snapshot of its topics, one after another."""

from dataclasses import dataclass

FRAME_SECONDS = 0.25


@dataclass(slots=True)
class Replay:
    """The state of a replay. What is shown there is a `back_at`."""

    points: tuple[int, ...]
    """Articles at each snapshot, ascending; at least one."""
    place: int = 0
    playing: bool = True

    @property
    def articles(self) -> int:
        """The number of articles after which the session is shown."""
        return self.points[self.place]

    def play(self) -> None:
        """Pause or continue; after the last point, start again."""
        self.playing = not self.playing
        if self.playing and self.place == len(self.points) - 1:
            self.place = 0

    def tick(self) -> bool:
        """Note that time has passed; returns whether another point is reached."""
        if not self.playing:
            return False
        self.place += self.place < len(self.points) - 1
        self.playing = self.place < len(self.points) - 1
        return True

    def step(self, by: int) -> None:
        """Pause at an earlier or later point."""
        self.playing = False
        self.place = min(max(self.place + by, 0), len(self.points) - 1)
