"""What all measurements share: parts and points, results that say where they come from, figures in docs."""

from benchmarks.frame.part import Figures, Part, Unavailable

__all__ = ["Figures", "Part", "Unavailable"]
