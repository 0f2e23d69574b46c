"""Colours as people see them, with all cones or without one kind.

Colours are "#rrggbb" or a browser's "color(srgb r g b)" and "rgb(r, g, b)".
"""

import re

import numpy as np
from numpy.typing import NDArray

DEFICIENCIES: dict[str, list[list[float]]] = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""What is left of linear light without one kind of cone [Machado, Oliveira and Fernandes 2009]."""
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_WHITE = np.array([0.9505, 1.0, 1.089])


def light(colour: str) -> NDArray[np.float64]:
    """Linear red, green and blue, 0 to 1."""
    if colour.startswith("#"):
        digits = (colour[1:3], colour[3:5], colour[5:7])
        values = np.array([int(pair, 16) for pair in digits]) / 255
    else:
        numbers = re.findall(r"[\d.]+(?:e-\d+)?", colour)
        values = np.array([float(number) for number in numbers[:3]])
        if colour.startswith("rgb"):
            values = values / 255
    # sRGB's transfer function
    dark = values / 12.92
    bright = ((values + 0.055) / 1.055) ** 2.4
    linear: NDArray[np.float64] = np.where(values <= 0.04045, dark, bright)
    return linear


def apart(one: str, other: str, deficiency: str) -> float:
    """How different two colours look: their distance in CIELAB."""
    return float(np.linalg.norm(_seen_lab(one, deficiency) - _seen_lab(other, deficiency)))


def _seen_lab(colour: str, deficiency: str) -> NDArray[np.float64]:
    """Lightness and colour in CIELAB, as somebody sees them."""
    seen = np.array(DEFICIENCIES[deficiency]) @ light(colour)
    return _lab(np.clip(seen, 0, 1))


def _lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled = _XYZ @ linear / _WHITE
    dark = 7.787 * scaled + 16 / 116
    x, y, z = np.where(scaled > 0.008856, np.cbrt(scaled), dark)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    """The contrast of text on a ground, 1 to 21, as WCAG measures it; 4.5 is enough for small
    letters."""
    dark, bright = sorted([_luminance(one), _luminance(other)])
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    return float(_XYZ[1] @ light(colour))
