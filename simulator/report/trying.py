"""Remedies tried: the best few are simulated, and told with the bytes they save and the time they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.report.parts import Parts
from simulator.report.remedies import Remedy, remedies, smaller_model, with_batch
from simulator.units import Bytes, worded_bytes

TRIED = 3  # of those that save something
MOST_TRIED = 3
TRACED = frozenset({"batch", "precision", "optimiser"})  # settings that need another trace, which takes longest
BATCHES_TRIED = 3
# changes of numbers as well as of memory: not combined with others unasked
NUMERIC = frozenset({"memory.half", "memory.half_partials", "memory.half_state", "memory.optimiser"})

Again = Callable[[RunConfig], Parts]


@dataclass(frozen=True)
class Tried:
    """A remedy and the run with it."""

    remedy: Remedy
    before: Parts
    after: Parts

    @property
    def fits(self) -> bool:
        return self.after.overflow is None

    @property
    def saved(self) -> Bytes:
        return _fullest(self.before) - _fullest(self.after)

    @property
    def lost(self) -> float:
        """Share of samples a second that it costs; below 0 it gains."""
        was, now = (parts.samples / parts.seconds(parts.step_cycles) for parts in (self.before, self.after))
        return 1 - now / was

    def to_dict(self) -> dict[str, Any]:
        over = 0 if self.after.overflow is None else self.after.overflow.over_by
        simulated = {
            "fits": self.fits,
            "over_by": over,
            "bytes_saved": self.saved,
            "throughput_lost": self.lost,
            "step_seconds": self.after.seconds(self.after.step_cycles),
            "samples_per_second": self.after.samples / self.after.seconds(self.after.step_cycles),
            "sentence": self._sentence(over),
        }
        return {**self.remedy.to_dict(), "simulated": simulated}

    def _sentence(self, over: Bytes) -> str:
        said = f"{'It fits' if self.fits else f'Still over by {worded_bytes(over)}'}: "
        said += f"{worded_bytes(self.saved)} less on the fullest tile, "
        return said + f"{abs(self.lost):.1%} {'fewer' if self.lost >= 0 else 'more'} samples a second."


def tried(parts: Parts, again: Again) -> list[dict[str, Any]]:
    """Remedies of a run that does not fit: those that were simulated first, what fits and costs least before all.

    ``again`` simulates another configuration. What needs another trace comes last, where nothing else fits and it may.
    A remedy that saves nothing, or cannot be simulated, is left out; where none fits alone, those that change no
    numbers are tried together.
    """
    found: list[Tried] = []
    left = list(remedies(parts))
    over = 0 if parts.overflow is None else parts.overflow.over_by
    # a batch that is not small enough yet is lowered further
    traced = [each for each in left if _traces(each) and (each.saves >= over or "batch" in each.changes)][:1]
    for remedy in [each for each in left if each.changes and not _traces(each)][:MOST_TRIED]:
        kept = len(traced) if not _fit(found) else 0
        if len(found) < TRIED - kept:
            left.remove(remedy)
            found += _attempts(parts, remedy, again)
    if traced and not _fit(found):
        left.remove(traced[0])
        found += _attempts(parts, traced[0], again)
    if found and not _fit(found):
        found += _together(parts, found, again)
    found.sort(key=lambda each: (not each.fits, each.lost if each.fits else -each.saved))
    rest = left or ([] if found else [smaller_model(parts)])
    return [each.to_dict() for each in found] + [remedy.to_dict() for remedy in rest]


def _fit(found: list[Tried]) -> bool:
    return any(each.fits for each in found)


def _traces(remedy: Remedy) -> bool:
    return not TRACED.isdisjoint(remedy.changes)


def _attempts(parts: Parts, remedy: Remedy, again: Again) -> Iterator[Tried]:
    """The remedy tried; a batch that does not fit yet is lowered further, a few times."""
    attempt = _tried(parts, remedy, again)
    for _ in range(BATCHES_TRIED - 1):
        batch = remedy.changes.get("batch", 1)
        if attempt is None or attempt.fits or batch == 1:
            break
        remedy = with_batch(remedy, parts.config, max(1, batch * 2 // 3))
        attempt = _tried(parts, remedy, again)
    if attempt is not None and attempt.saved > 0:
        yield attempt


def _tried(parts: Parts, remedy: Remedy, again: Again) -> Tried | None:
    try:
        changed = RunConfig.from_dict({**parts.config.to_dict(), **remedy.changes})
        return Tried(remedy, parts, again(changed))
    except SimulatorError:
        return None


def _together(parts: Parts, found: list[Tried], again: Again) -> Iterator[Tried]:
    chosen = [each.remedy for each in found if each.remedy.code not in NUMERIC]
    if len(chosen) > 1:
        changes = {name: value for remedy in chosen for name, value in remedy.changes.items()}
        text = "All of these together: " + ", ".join(sorted(changes)) + "."
        attempt = _tried(parts, Remedy("memory.together", text, changes, 0, 0.0, {}), again)
        if attempt is not None and attempt.saved > 0:
            yield attempt


def _fullest(parts: Parts) -> Bytes:
    return max(int(each.memory.tile_bytes.max()) for each in parts.classes)
