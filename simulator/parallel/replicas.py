"""Data parallelism: one copy of the graph an IPU, gradients summed over all. Replicas are a count, never an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.machines.catalogue import System, slice_of
from simulator.machines.facts import whole
from simulator.units import Bytes, ceil_div


@dataclass(frozen=True)
class Parallel:
    """A partition of ``ipus`` IPUs of ``system``, each with a replica that takes ``micro_batch`` samples a step."""

    system: System
    ipus: int
    micro_batch: int
    gradient_bytes: Bytes  # that one replica hands to the all-reduce; 0 when there is none

    @property
    def replicas(self) -> int:
        return self.ipus

    @property
    def global_batch(self) -> int:
        return self.micro_batch * self.replicas

    @property
    def machines(self) -> int:
        return ceil_div(self.ipus, whole("links.ipus_of_machine"))

    @property
    def link_domains(self) -> int:
        return ceil_div(self.ipus, whole("links.domain_ipus"))

    def to_dict(self) -> dict[str, Any]:
        return {
            "system": self.system.id,
            "ipus": self.ipus,
            "replicas": self.replicas,
            "micro_batch": self.micro_batch,
            "global_batch": self.global_batch,
            "partition": {"ipus": self.ipus, "machines": self.machines, "link_domains": self.link_domains},
            "gradient_bytes": self.gradient_bytes,
        }


def data_parallel(graph: Graph, config: RunConfig) -> Parallel:
    """One replica on every IPU of the slice. Raises ``system.unknown`` or ``system.size``."""
    found, ipus = slice_of(config.system, config.ipus)
    summed = 0
    if graph.training and ipus > 1:
        roots = {graph.tensors.root(gradient) for _, gradient in graph.gradients}
        summed = sum(int(graph.tensors.bytes[root]) for root in roots)
    return Parallel(found, ipus, graph.batch, summed)
