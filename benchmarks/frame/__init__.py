"""What all measurements share: parts and points, results with their provenance, figures in docs."""

from benchmarks.frame.part import (
    ENGINE_ROOMS,
    MODEL_ROOMS,
    TRAINER_ROOMS,
    WATCHED_ROOMS,
    Figures,
    Part,
    Unavailable,
)
from benchmarks.frame.table import table

__all__ = [
    "ENGINE_ROOMS",
    "MODEL_ROOMS",
    "TRAINER_ROOMS",
    "WATCHED_ROOMS",
    "Figures",
    "Part",
    "Unavailable",
    "table",
]
