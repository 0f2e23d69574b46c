"""Who trains a session, what it reports, and what others ask of it, apart from what is learnt."""
