"""Wikitext and HTML to prose."""
