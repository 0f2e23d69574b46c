"""The charts of a report: drawn by matplotlib, then simplified for the page."""
