"""Operators of a report as comma-separated values, one row each, for spreadsheets. It reads nothing but the report."""

from __future__ import annotations

import csv
import io
from typing import Any

COLUMNS = (
    "name", "pass", "kind", "primitive", "ipu", "count", "seconds", "share", "compute_cycles", "exchange_cycles",
    "sync_cycles", "flops", "bytes", "exchanged_bytes", "tiles_used", "bound_by",
)  # fmt: skip
# a spreadsheet would run a cell that begins so
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_of(report: dict[str, Any]) -> str:
    """A header and one line an operator, longest first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in report["operators"]:
        writer.writerow(_cell(row.get(name, "")) for name in COLUMNS)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
