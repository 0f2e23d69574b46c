"""What all measurements share: parts and points, results with their provenance, figures in docs."""

from benchmarks.frame.part import Figures, Part, Unavailable

__all__ = ["Figures", "Part", "Unavailable"]
