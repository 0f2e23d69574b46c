"""What a screen or a command may do with sessions: start a trainer, send it requests, list sessions."""
