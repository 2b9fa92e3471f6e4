"""Quantities in words."""

import pytest

from simulator.units import ceil_div, worded_bytes, worded_seconds


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0 B"), (1023, "1023 B"), (638_976, "624.0 KiB"), (5 * 2**40, "5120.0 GiB")]
)
def test_bytes(amount: int, text: str) -> None:
    assert worded_bytes(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1.5, "1.5 s"),
        (0.00123, "1.23 ms"),
        (4e-6, "4 µs"),
        (5e-8, "50 ns"),
        (0, "0 ns"),
        (999.6e-6, "1 ms"),
        (999.4e-6, "999 µs"),
        (0.99951, "1 s"),
        (999.4, "999 s"),
        (1234567.8, "1,234,568 s"),
    ],
)
def test_seconds(amount: float, text: str) -> None:
    assert worded_seconds(amount) == text


def test_division_rounds_up() -> None:
    assert [ceil_div(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
