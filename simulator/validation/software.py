"""Reads the words for a framework ("TensorFlow 1.15 SDK 2.1.0") into our name for it and its SDK generation."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORDS = (
    ("poprt", "poprt"),
    ("paddle", "paddle"),
    ("popart", "popart"),
    ("tensorflow", "tensorflow"),
    ("poptorch", "pytorch"),
    ("pytorch", "pytorch"),
    ("optimum", "pytorch"),
    ("poplar", "poplar"),
)
SDK = re.compile(r"sdk\s*(\d+)\.(\d+|x)", re.I)
SDK_ASSUMED = 3.0
BEFORE = 0.1  # "Pre-SDK2.5" is taken as the release before


@dataclass(frozen=True)
class Software:
    """``framework`` is a choice of RunConfig; ``sdk`` like 2.5. ``assumed`` names what was not said."""

    framework: str
    sdk: float
    assumed: tuple[str, ...]


def software_of(text: str) -> Software:
    """Framework and SDK of a row. An unknown framework is costed as Podium's own; one without SDK as of 3.0."""
    lowered = text.lower()
    framework = next((name for word, name in WORDS if word in lowered), None)
    found = SDK.search(text)
    sdk = SDK_ASSUMED
    if found is not None:
        minor = found.group(2)
        sdk = float(f"{found.group(1)}.{0 if minor == 'x' else minor[:2]}")
        sdk = round(sdk - BEFORE, 2) if "pre-sdk" in lowered else sdk
    missing = [name for name, absent in (("framework", framework is None), ("sdk", found is None)) if absent]
    return Software(framework or "podium", min(4.0, max(1.0, sdk)), tuple(missing))
