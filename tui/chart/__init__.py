"""A line chart for the terminal: pure arithmetic up to `plot`, then the widgets `picture` and `chart`."""
