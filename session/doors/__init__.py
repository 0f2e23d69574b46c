"""What a screen or a command may do about sessions: start a trainer, ask it for something, list sessions."""
