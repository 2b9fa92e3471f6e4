"""The benchmark suites, as code. A change of rules is a new version; rows name the version they met.

A suite fixes a model family, a task and some settings, and ranks one metric. It says nothing of who may publish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Family:
    """Models that count as the same network: the zoo's, and uploads with its operators and number of parameters."""

    zoo: str
    name: str
    parameters: tuple[int, int]  # least and most, inclusive
    operators: Mapping[str, int]  # how many of each that must be there

    def includes(self, *, zoo: str, summary: Mapping[str, Any] | None) -> bool:
        """`summary` is the inspection of an upload."""
        if zoo:
            return zoo == self.zoo
        if summary is None:
            return False
        counted: dict[str, int] = {}
        for row in summary["operators"]:
            counted[row["op"]] = counted.get(row["op"], 0) + row["count"]
        least, most = self.parameters
        return least <= summary["parameters"] <= most and all(
            counted.get(name, 0) == count for name, count in self.operators.items()
        )


@dataclass(frozen=True)
class Suite:
    """One leaderboard. `metric` names a field of a job's result; its value times `scale` is in `unit`."""

    slug: str
    version: int
    name: str
    kind: str
    metric: str
    unit: str
    scale: float
    better: str
    family: Family
    description: str
    task: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    least_steps: int = 1

    @property
    def text(self) -> str:
        """The rules in one paragraph."""
        settings = ", ".join(f"{name} {value}" for name, value in self.fixed.items())
        parts = [
            f"Model: {self.family.name} ({self.family.zoo}, or an upload with the same operators and parameters).",
            f"Task: {'training' if self.task == 'train' else 'inference'}, at least {self.least_steps} steps.",
            f"Fixed: {settings}." if settings else "All other settings are free.",
            "The run must fit and end well. One row for each organization, system, size and setting: its best.",
            "Rows are ranked within one release of the engine.",
        ]
        return " ".join(parts)

    def rules(self) -> dict[str, Any]:
        """As the interface shows them."""
        return {
            "version": self.version,
            "model": self.family.zoo,
            "task": self.task,
            "config": {"task": self.task, **self.fixed},
            "least_steps": self.least_steps,
            "text": self.text,
        }

    def objections(self, *, zoo: str, summary: Mapping[str, Any] | None, config: Mapping[str, Any]) -> dict[str, str]:
        """What in a request breaks the rules, by field; empty when it may be ranked."""
        found = {}
        if not self.family.includes(zoo=zoo, summary=summary):
            found["model"] = f"this board takes {self.family.name}: {self.family.zoo} or an upload of the same network"
        for name, value in {"task": self.task, **self.fixed}.items():
            if config.get(name) != value:
                found[f"config.{name}"] = f"this board asks for {name} {value}"
        if int(config.get("steps", 0)) < self.least_steps:
            found["config.steps"] = f"this board asks for at least {self.least_steps} steps"
        return found


MNIST = Family("zoo:mnist", "the MNIST network of the zoo", (225_034, 225_034), {"Conv": 2, "MaxPool": 2})
RESNET50 = Family("zoo:resnet50", "ResNet-50", (25_400_000, 25_700_000), {"Conv": 53})

SUITES: tuple[Suite, ...] = (
    Suite(
        slug="train-throughput-mnist", version=1, name="Training throughput, MNIST network", kind="training_throughput",
        metric="samples_per_second", unit="samples/s", scale=1.0, better="higher", family=MNIST, task="train",
        description="Simulated samples per second of training a small digit classifier, with gradients and all-reduce. "
        "Nobody has published this network on an IPU: the rows beside it are of ResNet-50, for scale.",
        least_steps=10,
    ),
    Suite(
        slug="infer-latency-mnist", version=1, name="Inference latency, MNIST network", kind="inference_latency",
        metric="latency_seconds", unit="µs", scale=1e6, better="lower", family=MNIST, task="infer", fixed={"batch": 1},
        description="Simulated time from host to host for one sample of a small digit classifier. "
        "Nobody has published this network on an IPU: the rows beside it are of larger ones, for scale.",
    ),
    Suite(
        slug="train-throughput-resnet50", version=1, name="Training throughput, ResNet-50", kind="training_throughput",
        metric="samples_per_second", unit="images/s", scale=1.0, better="higher", family=RESNET50, task="train",
        description="Simulated images per second of training ResNet-50, beside published results of real systems.",
    ),
    Suite(
        slug="infer-latency-resnet50", version=1, name="Inference latency, ResNet-50", kind="inference_latency",
        metric="latency_seconds", unit="ms", scale=1e3, better="lower", family=RESNET50, task="infer",
        fixed={"batch": 1},
        description="Simulated time from host to host for one image through ResNet-50, beside published figures.",
    ),
)  # fmt: skip


def by_slug(slug: str) -> Suite | None:
    """The current version of a suite."""
    return next((suite for suite in SUITES if suite.slug == slug), None)
