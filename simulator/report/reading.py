"""Reads a report back from its JSON file and says when it is none. What a report means is told elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simulator.errors import SimulatorError

SCHEMA = "podium.report/1"
MOST_BYTES = 200_000_000
NEEDED = ("step_seconds", "samples_per_second", "fits", "memory", "time", "operators", "parallel", "config")


def read_report(path: Path) -> dict[str, Any]:
    """The report that ``--json`` wrote. Raises ``report.invalid`` for anything else."""
    try:
        if path.exists() and not path.is_file():
            raise _no_report(path, "it is not a file")
        if path.stat().st_size > MOST_BYTES:
            raise _no_report(path, f"it is larger than {MOST_BYTES:,} bytes")
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise _no_report(path, (error.strerror or str(error)).lower()) from None
    except (ValueError, RecursionError):
        raise _no_report(path, "it is not JSON") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise _no_report(path, f"its schema is not {SCHEMA}")
    missing = [name for name in NEEDED if name not in found]
    if missing:
        raise _no_report(path, f"it lacks {', '.join(missing)}")
    return found


def _no_report(path: Path, why: str) -> SimulatorError:
    text = f"{path.name} is no report of the simulator: {why}. Write one with: simulate MODEL --json > FILE."
    return SimulatorError("report.invalid", text, params={"file": path.name})
