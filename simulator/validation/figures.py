"""Reads files of published measurements. A ``Subject`` is all that a prediction may see: no id, no note, no value."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, fields
from importlib.resources import files
from io import StringIO
from pathlib import Path

from simulator.errors import SimulatorError
from simulator.textfiles import Unreadable, read_text

NEEDED = ("id", "source", "system", "model", "metric", "value")
TASKS = {"training": "train", "inference": "infer"}
LARGEST_FILE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Subject:
    """What was measured, in the words of whoever published it; "" where they did not say."""

    round: str = ""
    division: str = ""
    system: str = ""
    chips: str = ""
    model: str = ""
    task: str = ""
    framework: str = ""
    precision: str = ""
    batch_micro: str = ""
    batch_global: str = ""
    replicas: str = ""
    pipeline_stages: str = ""
    grad_accum: str = ""
    metric: str = ""
    unit: str = ""
    samples_to_converge_or_epochs: str = ""
    chip_type: str = ""
    hosts: str = ""
    host_cpus: str = ""

    def whole(self, name: str) -> int | None:
        """A column as a whole number, or None where it is empty or is not one."""
        text = str(getattr(self, name)).strip()
        try:
            number = float(text)
        except ValueError:
            return None
        return int(number) if math.isfinite(number) and number == int(number) and number > 0 else None


@dataclass(frozen=True)
class Figure:
    """One row of a file: what was measured and the value that was published (None when it is no number)."""

    id: str
    source: str
    family: str
    subject: Subject
    published: float | None

    @property
    def group(self) -> str:
        """Rows that stand or fall together: those of one source and family."""
        return f"{self.family}: {self.source}"


def read_figures(path: Path | None = None) -> list[Figure]:
    """The rows of ``path`` (None: the figures that come with Podium). Raises ``validation.file``."""
    if path is None:
        return parse_figures(files(__package__).joinpath("figures.csv").read_text("utf-8"), "figures.csv")
    try:
        return parse_figures(read_text(path, LARGEST_FILE_BYTES), str(path))
    except Unreadable as why:
        raise _bad(str(path), str(why)) from None


def parse_figures(text: str, name: str) -> list[Figure]:
    """As ``read_figures``, of a text that is already here."""
    columns, rows = _table(text, name)
    missing = [column for column in NEEDED if column not in columns]
    if missing or not rows:
        raise _bad(name, "lacks the columns " + ", ".join(missing) if columns and missing else "holds no rows")
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise _bad(name, f"has the column '{twice:.40}' twice")
    return [_figure(row) for row in rows]


def _table(text: str, name: str) -> tuple[list[str], list[dict[str, str | None]]]:
    """Columns and rows. A stray quote within a field is let pass, one that never closes would swallow rows."""
    table = csv.DictReader(StringIO(text), strict=True)
    try:
        rows = list(table)
    except csv.Error as error:
        if "expected after" not in str(error):
            why = (
                f"is not a table of comma-separated values from line {table.line_num + 1} on: an open quote, or a field"
            )
            raise _bad(name, f"{why} of more than {csv.field_size_limit():,} letters") from None
        table = csv.DictReader(StringIO(text))
        rows = list(table)
    return list(table.fieldnames or ()), rows


def _figure(row: dict[str, str | None]) -> Figure:
    columns = {f.name: (row.get(f.name) or "").strip() for f in fields(Subject)}
    columns["task"] = TASKS.get(columns["task"].lower(), columns["task"])
    return Figure(
        id=row.get("id") or "",
        source=row.get("source") or "",
        family=row.get("family") or "other",
        subject=Subject(**columns),
        published=_number(row.get("value") or ""),
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bad(name: str, why: str) -> SimulatorError:
    return SimulatorError(
        "validation.file",
        f"The file '{name[:200]}' {why}. Give a CSV with the columns {', '.join(NEEDED)}.",
        params={"file": name[:200], "columns": list(NEEDED)},
    )
