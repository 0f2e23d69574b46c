"""The ways in for articles, one file each."""
