"""The trainer's process: crawl, count, learn, evaluate and commit, until the end or until told to stop."""
