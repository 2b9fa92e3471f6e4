"""One exchange phase: bytes in and out of each tile, its cycles and its instructions. Sync is priced elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.shares import Ints, ceil_divide


@dataclass(frozen=True)
class Exchange:
    """Bytes that tiles receive and send, shape [tiles] each.

    ``shared`` is the part of ``receive`` that the two tiles of a pair both get, at twice the rate. A multicast is sent
    once: ``sent`` then counts it once and ``copies_bytes`` (what all destinations together must get) says what the
    received bytes must sum to. ``fragments`` is the number of runs of data from different senders.
    """

    receive: Ints
    send: Ints
    shared: Ints
    fragments: Ints
    copies_bytes: int

    def cycles(self, ipu: Ipu) -> Ints:
        """Cycles of each tile: the larger of in and out (full duplex), and no fewer than its control instructions."""
        plain = ceil_divide(self.receive - self.shared, ipu.exchange_bytes_per_cycle)
        inward = plain + ceil_divide(self.shared, ipu.paired_bytes_per_cycle)
        control = self.fragments * ipu.whole("exchange.control_per_fragment")
        outward = ceil_divide(self.send, ipu.exchange_bytes_per_cycle)
        return np.maximum(np.maximum(inward, control), outward)

    def code_bytes(self, ipu: Ipu) -> Ints:
        """Exchange code of each tile: an instruction for every fragment in, and one for every full send out."""
        words = ceil_divide(self.send, 4)
        sends = ceil_divide(words, ipu.whole("exchange.words_per_send"))
        return (self.fragments * ipu.whole("exchange.code_per_fragment") + sends) * ipu.whole("exchange.instruction")


def exchange(receive: Ints, send: Ints, *, shared: Ints | None = None, piece: int = 0, copies_bytes: int) -> Exchange:
    """An exchange whose fragments are runs of ``piece`` bytes (what one sender holds); 0: one fragment a tile."""
    active = (receive > 0).astype(np.int64)
    fragments = np.maximum(active, ceil_divide(receive, piece)) if piece > 0 else active
    return Exchange(
        receive=receive,
        send=send,
        shared=np.zeros_like(receive) if shared is None else shared,
        fragments=np.minimum(fragments, len(receive)),
        copies_bytes=copies_bytes,
    )


def run_of(amount: int, ipu: Ipu) -> int:
    """Bytes that one tile holds of a tensor of ``amount`` bytes: what arrives in one run from it."""
    return max(ipu.mapping_minimum_bytes, -(-amount // ipu.tiles))


def together(first: Exchange, second: Exchange) -> Exchange:
    """Two transfers in the same phase."""
    return Exchange(
        first.receive + second.receive,
        first.send + second.send,
        first.shared + second.shared,
        np.minimum(first.fragments + second.fragments, len(first.fragments)),
        first.copies_bytes + second.copies_bytes,
    )
