"""Reads the words for a system ("Bow Pod64 (16 IPU used)", "2 x GC200") into chip, count and the system's name here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simulator.validation.figures import Subject

# words of the chip column or of the system's name -> chip of the catalogue
CHIPS = (
    (re.compile(r"\bA100", re.I), "A100"),
    (re.compile(r"\bV100", re.I), "V100"),
    (re.compile(r"\bH100", re.I), "H100"),
    (re.compile(r"\bC600", re.I), "C600"),
    (re.compile(r"\bGC2\b|\bMk1\b", re.I), "GC2"),
    (re.compile(r"\bBow\b", re.I), "BOW"),
    (re.compile(r"\bGC200\b|\bIPU-POD|\bM2000\b|\bMk2\b", re.I), "GC200"),
)
GPUS = frozenset({"A100", "V100", "H100"})
POD = re.compile(r"pod\s*-?\s*(\d+)", re.I)
MACHINE = re.compile(r"(?:(\d+)\s*x\s*)?(?:\bIPU-?M|\bM|\bBow[ -]?)2000\b", re.I)  # an IPU-Machine has four IPUs
IPUS_OF_MACHINE = 4
PODS = (4, 16, 64, 128, 256)
CHIP_ASSUMED = "GC200"
# PopRT was published for the C600, the only chip that runs its fp8 examples
CHIP_OF_POPRT = "C600"


@dataclass(frozen=True)
class Place:
    """``chip`` ran it on ``chips`` of them, part of a system of ``whole`` ones (0: not said)."""

    chip: str
    chips: int
    whole: int
    chip_assumed: bool

    @property
    def gpu(self) -> bool:
        return self.chip in GPUS

    @property
    def system(self) -> str:
        """Name of the smallest system of the catalogue that is as large as what was used."""
        if self.chip in ("C600", "GC2"):
            return f"{self.chip.lower()}:{self.chips}"
        size = max(self.whole, self.chips)
        named = next((size_of for size_of in PODS if size_of >= size), None)
        bow = self.chip == "BOW"
        if named == PODS[0]:
            return "bow2000" if bow else "pod4"
        return f"{'bow' if bow else 'ipus'}:{size}" if named is None else f"{'bowpod' if bow else 'pod'}{named}"


def place_of(subject: Subject) -> Place:
    """The chip from its own column, else from the system's words; one that nobody states is assumed."""
    for text in (subject.chip_type, subject.system):
        chip = next((name for pattern, name in CHIPS if pattern.search(text)), None)
        if chip is not None and "not stated" not in text:
            break
    else:
        chip = None
    pod = POD.search(subject.system)
    whole = int(pod.group(1)) if pod else _of_machines(subject.system)
    count = subject.whole("chips") or (0 if whole and not pod else _leading(subject.system)) or whole or 1
    assumed = CHIP_OF_POPRT if "poprt" in subject.framework.lower() else CHIP_ASSUMED
    return Place(chip or assumed, count, whole, chip is None)


def _of_machines(text: str) -> int:
    """IPUs of the IPU-Machines that a text names, 0 for none."""
    found = MACHINE.search(text)
    return 0 if found is None else IPUS_OF_MACHINE * int(found.group(1) or 1)


def _leading(text: str) -> int | None:
    found = re.match(r"\s*(\d+)\s*(?:x\b|IPU|Bow|A100)", text)
    return int(found.group(1)) if found else None
