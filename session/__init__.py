"""One training session: crawl, count, learn, measure, save; the store and the command line."""
