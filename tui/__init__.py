"""The screen: reads a session, never trains."""
