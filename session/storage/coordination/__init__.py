"""Who trains a session, what it says of itself, and what others ask of it: beside what is learnt."""
