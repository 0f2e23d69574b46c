"""A live topic model of Wikipedia: the front door, that is the command line and the program's Python face."""
