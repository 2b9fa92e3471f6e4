"""How much one jailed child may use. Values for a task are chosen by the task."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024
GIB = 1024 * MIB


@dataclass(frozen=True)
class Limits:
    """Ceilings of one child, counted from the moment it is confined (its trusted warm-up is not the model's doing)."""

    memory_bytes: int = 2 * GIB
    cpu_seconds: int = 60
    wall_seconds: float = 60.0
    warmup_seconds: float = 120.0
    file_bytes: int = 512 * MIB  # the largest file it may write
    open_files: int = 256
    result_bytes: int = 512 * MIB  # everything it may send us

    @property
    def address_space_bytes(self) -> int:
        """Loose on purpose: JAX reserves far more than it touches and aborts under a tight limit."""
        return 4 * self.memory_bytes + 16 * GIB
