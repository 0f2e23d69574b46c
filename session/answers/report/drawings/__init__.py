"""The charts of a report: drawn by matplotlib, made plain for the page."""
