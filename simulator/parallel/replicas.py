"""How a slice is used: replicas, pipeline stages and their IPUs, micro-batches. Counts only, never an array of IPUs.

It also refuses combinations that no machine could run, with the values that would do. What crosses is in ``subgraphs``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.machines.catalogue import System, slice_of
from simulator.parallel.feeding import Feed, feed_of
from simulator.units import Bytes, ceil_div

LEGAL_SHOWN = 8


@dataclass(frozen=True)
class Parallel:
    """A partition of ``ipus`` IPUs of ``system``, cut into equal replicas of pipeline stages.

    ``stage_ipus`` is the place in the replica of each stage's (first) IPU. A step takes ``accumulation`` micro-batches
    of ``micro_batch`` samples a replica; a packed sample counts as ``sequences_in_pack``.
    """

    system: System
    ipus: int
    micro_batch: int
    stage_ipus: tuple[int, ...] = (0,)
    tensor_parallel: int = 1
    accumulation: int = 1
    sequences_in_pack: float = 1.0
    device_iterations: int = 1
    schedule: str = "grouped"
    training: bool = True
    shard_optimiser: bool = False
    offload_optimiser: bool = False
    feed: Feed = field(default_factory=Feed)
    gradient_bytes: Bytes = 0  # that the IPU with most of them hands to the all-reduce; 0 when there is none

    @property
    def stages(self) -> int:
        return len(self.stage_ipus)

    @property
    def ipus_per_replica(self) -> int:
        return (max(self.stage_ipus) + 1) * self.tensor_parallel

    @property
    def replicas(self) -> int:
        return self.ipus // self.ipus_per_replica

    @property
    def micro_batches(self) -> int:
        """Micro-batches that pass through a replica in a step: in inference those of one call of the host."""
        return self.accumulation if self.training else self.device_iterations

    @property
    def samples(self) -> float:
        """Samples of one step over all replicas, packed ones counted as what is in them."""
        return self.micro_batch * self.micro_batches * self.replicas * self.sequences_in_pack

    @property
    def global_batch(self) -> int:
        return round(self.samples)

    @property
    def machines(self) -> int:
        return self.system.machines_for(self.ipus)

    @property
    def link_domains(self) -> int:
        """IPU-Link domains: islands of IPUs that only GW-Links join."""
        return ceil_div(self.ipus, self.system.ipu.whole("links.domain_ipus"))

    def to_dict(self) -> dict[str, Any]:
        return {
            "system": self.system.id,
            "ipus": self.ipus,
            "replicas": self.replicas,
            "micro_batch": self.micro_batch,
            "global_batch": self.global_batch,
            "partition": {"ipus": self.ipus, "machines": self.machines, "link_domains": self.link_domains},
            "gradient_bytes": self.gradient_bytes,
            "ipus_per_replica": self.ipus_per_replica,
            "tensor_parallel": self.tensor_parallel,
            "stage_ipus": list(self.stage_ipus),
            "hosts": self.feed.hosts,
            "loader_workers": self.feed.workers,
            "schedule": self.schedule if self.stages > 1 else "sequential",
            "batch": self._batch(),
        }

    def _batch(self) -> dict[str, Any]:
        terms = f"{self.micro_batch} x {self.micro_batches} x {self.replicas}"
        packed = f" x {self.sequences_in_pack:g}" if self.sequences_in_pack != 1 else ""
        return {
            "micro_batch": self.micro_batch,
            "accumulation": self.accumulation,
            "replicas": self.replicas,
            "sequences_in_pack": self.sequences_in_pack,
            "global_batch": self.global_batch,
            "equation": f"{terms}{packed} = {worded_count(self.samples)}",
            "iterations": self.device_iterations,
            "samples_a_host_call": self.samples * (self.device_iterations if self.training else 1),
        }


def worded_count(amount: float) -> str:
    """A count in full: ``65536``, and ``3.4`` where packs are not whole."""
    return str(round(amount)) if abs(amount - round(amount)) < 1e-6 else f"{amount:.2f}".rstrip("0")


def lay_out(config: RunConfig, micro_batch: int) -> Parallel:
    """The use of the slice that ``config`` asks for. Raises ``system.*`` or ``parallel.illegal``."""
    stage_ipus = config.stage_ipus or tuple(range(config.pipeline_stages))
    _check_stage_ipus(stage_ipus)
    per_replica = (max(stage_ipus) + 1) * config.tensor_parallel
    system, ipus = _slice(config, per_replica)
    _check_micro_batches(config, len(stage_ipus))
    return Parallel(
        system=system,
        ipus=ipus,
        micro_batch=micro_batch,
        stage_ipus=stage_ipus,
        tensor_parallel=config.tensor_parallel,
        accumulation=config.accumulation,
        sequences_in_pack=config.sequences_in_pack,
        device_iterations=config.device_iterations,
        schedule=config.schedule,
        training=config.training,
        shard_optimiser=config.shard_optimiser,
        offload_optimiser=config.offload == "optimiser",
        feed=feed_of(config, system, ipus),
    )


def illegal(field: str, value: object, why: str, legal: list[Any]) -> SimulatorError:
    """The refusal of a combination of settings, with the values of ``field`` that would do."""
    shown = ", ".join(str(each) for each in legal[:LEGAL_SHOWN])
    text = f"{field} {value} {why}." + (f" Use {shown}." if legal else "")
    return SimulatorError(
        "parallel.illegal", text, params={"field": field, "value": value, "legal": legal[:LEGAL_SHOWN]}
    )


def _slice(config: RunConfig, per_replica: int) -> tuple[System, int]:
    """System and IPUs; with ``replicas`` and no ``ipus``, as many IPUs as the replicas take."""
    wanted = config.ipus
    sized_by_name = config.system.lower().startswith("ipus:")
    if wanted is None and config.replicas is not None and not sized_by_name:
        wanted = config.replicas * per_replica
        system, _ = slice_of(config.system, None)
        if wanted not in system.allowed_sizes:
            legal = [size // per_replica for size in system.allowed_sizes if size % per_replica == 0]
            raise illegal(
                "replicas", config.replicas, f"of {per_replica} IPUs each are no partition of {system.name}", legal
            )
    system, ipus = slice_of(config.system, wanted)
    if ipus % per_replica:
        fitting = [size for size in system.allowed_sizes if size % per_replica == 0]
        width, stages = config.tensor_parallel, config.pipeline_stages
        field, value = ("tensor_parallel", width) if width > 1 and stages == 1 else ("stages", stages)
        field, value, legal = ("ipus", ipus, fitting) if fitting else (field, value, _powers(ipus))
        raise illegal(field, value, f"cannot be divided into replicas of {per_replica} IPUs", legal)
    replicas = ipus // per_replica
    if config.replicas not in (None, replicas):
        raise illegal("replicas", config.replicas, f"of {per_replica} IPUs each do not fill {ipus} IPUs", [replicas])
    return system, ipus


def _powers(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length()) if 2**power <= most]


def _check_stage_ipus(stage_ipus: tuple[int, ...]) -> None:
    used = sorted(set(stage_ipus))
    if used != list(range(len(used))):
        text = "leaves IPUs of the replica out: number them from 0 without gaps"
        numbered = {ipu: place for place, ipu in enumerate(used)}
        raise illegal("stage_ipus", list(stage_ipus), text, [[numbered[ipu] for ipu in stage_ipus]])


def _check_micro_batches(config: RunConfig, stages: int) -> None:
    if not config.training and config.accumulation > 1:
        raise illegal("accumulation", config.accumulation, "has no meaning in inference: nothing is summed", [1])
    pipelined = stages > 1 and config.schedule != "sequential"
    if config.training and pipelined and config.accumulation < stages:
        why = f"does not fill a pipeline of {stages} stages: each step needs at least as many micro-batches"
        raise illegal("accumulation", config.accumulation, why, [stages * k for k in (1, 2, 4, 8, 16)])
