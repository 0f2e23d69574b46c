"""The process of a trainer: crawl, count, learn, evaluate and commit, until the end or until told to stop."""
