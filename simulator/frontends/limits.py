"""How much of an uploaded model is read before it is refused. Settings, so that an operator can widen them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Counts and bytes. Nothing is ever allocated because a file claims a size."""

    file_bytes: int = 2 << 30
    nodes: int = 20_000  # of all graphs together, after functions are inlined
    depth: int = 16  # graphs inside graphs, functions inside functions
    ports: int = 4_096  # inputs or outputs of one graph or node
    rank: int = 16
    tensor_bytes: int = 16 << 30  # of any one tensor of the run, weights included
    folded_elements: int = 1 << 20  # of a value computed while tracing
    scratch_elements: int = 1 << 24  # of a table made while tracing, such as the weights of a resize
    einsum_terms: int = 16
    reading_seconds: float = 30.0  # of processor time, from the first byte to the last shape
    reading_bytes: int = 4 << 30  # of memory more than before, weights that the file itself holds included


DEFAULT_LIMITS = Limits()
