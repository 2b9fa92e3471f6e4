"""A simulation runs without the garbage collector, and leaves it as it was, whatever happens."""

import gc
from collections.abc import Iterator

import pytest

from simulator.collecting import uncollected


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    gc.enable()


def test_collection_pauses_and_goes_on() -> None:
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    @uncollected()
    def fails() -> None:
        raise ValueError(gc.isenabled())

    with pytest.raises(ValueError, match="False"):
        fails()
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_off() -> None:
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()
