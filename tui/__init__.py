"""The screen: it reads a session and never trains."""
