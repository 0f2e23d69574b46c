"""The place on a lap."""

import pytest

from crawler.cursor import lap_share


@pytest.mark.parametrize(
    ("cursor", "share"),
    [
        (None, 1.0),
        ({"grncontinue": "0.25|0.75|9|0"}, 0.5),
        ({"grncontinue": "0.25|0.15|9|1"}, 0.9),
        ({"grncontinue": "nan|x|9|1"}, None),
        ({"grncontinue": "nan|0.5|9|1"}, None),
        ({}, None),
    ],
)
def test_lap_share(cursor: dict[str, str] | None, share: float | None) -> None:
    assert lap_share(cursor) == (pytest.approx(share) if share is not None else None)
