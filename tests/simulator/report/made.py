"""Parts of simulations for tests of the report: small enough to judge by hand, too large, and of a pipeline."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from simulator import RunConfig
from simulator.laying import lay
from simulator.pipeline import graph_of, open_model, parts_of
from simulator.report.parts import Parts
from tests.simulator.handmade import dense_parts


def dense(*, training: bool = True, **settings: Any) -> Parts:
    """The handmade dense step on a POD4."""
    return dense_parts(task="train" if training else "infer", **settings)


def too_small() -> Parts:
    """The same on a chip whose tiles hold next to nothing."""
    return dense(machine={"tile.memory": 8_000})


@lru_cache(maxsize=4)
def pipeline(stages: int = 4, accumulation: int = 8) -> Parts:
    """MNIST in training over ``stages`` IPUs."""
    config = RunConfig(system="pod16", stages=stages, accumulation=accumulation, batch=8)
    program, sha256 = open_model("zoo:mnist", config)
    return parts_of(program, lay(graph_of(program, config), config), config, sha256=sha256)


def changed(parts: Parts, place: int = 0, **changes: Any) -> Parts:
    """``parts`` with other products of the IPU at ``place``."""
    classes = list(parts.classes)
    classes[place] = replace(classes[place], **changes)
    return replace(parts, classes=tuple(classes))
