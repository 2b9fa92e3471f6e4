"""Where the elements of a tensor lie: how many on each tile, and from which tile they start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.shares import Ints, proportional, rolled, spread


@dataclass(frozen=True, eq=False)
class Spread:
    """Elements on each tile, shape [tiles], counted from the start tile. Equal when the counts are."""

    elements: Ints

    @cached_property
    def _content(self) -> bytes:
        return self.elements.tobytes()

    @cached_property
    def total(self) -> int:
        return int(self.elements.sum())

    @cached_property
    def used(self) -> int:
        """Tiles from the start to the last that holds something."""
        held = np.flatnonzero(self.elements)
        return int(held[-1]) + 1 if len(held) else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spread) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


@dataclass(frozen=True)
class Layout:
    """A spread that starts at tile ``start`` and wraps round.

    ``across`` is the number of tiles over which the last dimension (channels) is cut; 0 where elements lie in order.
    """

    spread: Spread
    start: int
    across: int = 0

    def on_tiles(self) -> Ints:
        """Elements of every tile of the chip. Shape [tiles]."""
        return rolled(self.spread.elements, self.start)


@lru_cache(maxsize=2048)
def linear(elements: int, itemsize: int, ipu: Ipu) -> Spread:
    """As PopLibs maps a tensor that nobody has a wish for: 128 bytes a tile at least, in whole 8-byte grains."""
    used = min(ipu.tiles, max(1, -(-elements * itemsize // ipu.mapping_minimum_bytes)))
    return Spread(spread(elements, used, ipu.tiles, max(1, ipu.atom_bytes // itemsize)))


@lru_cache(maxsize=2048)
def scaled(elements: int, like: Spread) -> Spread:
    """``elements`` laid out in proportion to another spread."""
    return like if elements == like.total else Spread(proportional(elements, like.elements))
