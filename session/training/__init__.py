"""The trainer's process: crawl, count, learn, evaluate and commit, until finished or told to
stop."""
