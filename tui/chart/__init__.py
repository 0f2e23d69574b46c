"""A line chart for the terminal: pure arithmetic in `axes` and `raster`, the widget in `chart`."""
