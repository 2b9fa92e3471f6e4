"""From a row to a model and its settings, each told as given (by the row), published (with a run), or assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any

from simulator.config import CHOICES, RunConfig
from simulator.errors import SimulatorError
from simulator.frameworks.catalogue import framework
from simulator.validation.figures import Subject
from simulator.validation.layouts.entry import Configuration
from simulator.validation.matching import Match, match
from simulator.validation.places import Place, place_of
from simulator.validation.refusals import NotModelled
from simulator.validation.software import Software, software_of
from simulator.validation.workloads import Workload, why_none, workload_of
from simulator.zoo.catalogue import find

GIVEN, PUBLISHED, ASSUMED = "given", "published", "assumed"
MESHES = frozenset({"zoo:stencil2d", "zoo:stencil3d", "zoo:blur", "zoo:stream-triad"})
RECORDS = "zoo:schnet"  # whose runs scale at one size of a host call
LANES = (("half4", 4), ("float2", 2), ("vectorised", 2))
CLIENTS_OF_CARD = 4  # of ByteMLPerf on the C600: the middle of what its files state for other models, 3 to 5
SEQUENCES_OF_PACK = 3  # at most, in every published configuration
MESH = frozenset({"width", "height", "depth", "steps", "elements"})


@dataclass(frozen=True)
class Case:
    """``model`` under ``config``; ``origins`` of each setting that is not a default of the engine."""

    subject: Subject
    workload: Workload
    place: Place
    model: str
    config: RunConfig
    origins: tuple[tuple[str, str], ...]
    configuration: str

    @property
    def sizes(self) -> dict[str, int]:
        """Elements of a kernel's mesh in each direction, and its steps."""
        return {name: size for name, size in self.config.dims.items() if name in MESH}

    @property
    def calls(self) -> int:
        """How often a kernel runs in one simulated step."""
        return self.config.dims.get("repeats", 1)

    @property
    def rows_a_gpu(self) -> int:
        """Rows of the batch that one GPU takes: of a global batch its share, else the micro-batch."""
        whole = self.subject.whole("batch_global")
        rows = self.config.batch if whole is None else whole / self.place.chips / self.config.sequences_in_pack
        return max(1, round(rows))

    @property
    def assumed(self) -> tuple[str, ...]:
        return tuple(name for name, origin in self.origins if origin == ASSUMED)


def case_of(subject: Subject, known: Sequence[Configuration]) -> Case:
    """Raises NotModelled with the reason where the row's words name no model or its settings are refused."""
    workload = workload_of(subject)
    if workload is None:
        raise NotModelled(why_none(subject))
    if workload.refused:
        raise NotModelled(workload.refused)
    if find(workload.model).unpublished:
        raise NotModelled(f"not published: {find(workload.model).unpublished}")
    place, software = place_of(subject), software_of(subject.framework)
    if place.chip_assumed and software.framework != "poprt":
        raise NotModelled("nobody states which chip ran it")
    if place.gpu:
        return _gpu_case(subject, workload, place, software)
    found = match(subject, workload, place, software, known)
    settings = _Settings(subject, workload, place, software, found)
    try:
        settings.resolve()
        config = RunConfig(**settings.values, dims=settings.dims)
    except SimulatorError as error:
        raise NotModelled(f"{error.code}: {error}") from error
    name = "" if found is None else found.configuration.name
    return Case(subject, workload, place, workload.model, config, tuple(settings.origins.items()), name)


def _gpu_case(subject: Subject, workload: Workload, place: Place, software: Software) -> Case:
    """A GPU has no layout over IPUs: only the model, its precision and its batch."""
    settings = _Settings(subject, workload, place, software, None)
    settings.resolve()
    values = {name: settings.values[name] for name in ("task", "batch", "precision")}
    # NVIDIA's BERT computes only tokens that are there, so that packs stand for it too
    dims = {name: size if name != "repeats" else 1 for name, size in workload.dims.items()}
    config = RunConfig(**values, sequences_in_pack=workload.sequences_in_pack, dims=dims)
    origins = tuple((name, settings.origins[name]) for name in values)
    return Case(subject, workload, place, workload.model, config, origins, "")


class _Settings:
    """Settings in the making: what is set first stays."""

    def __init__(
        self, subject: Subject, workload: Workload, place: Place, software: Software, found: Match | None
    ) -> None:
        self.subject, self.workload, self.place, self.software, self.found = subject, workload, place, software, found
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.dims: dict[str, int] = {}

    def put(self, name: str, value: Any, origin: str) -> None:
        if name not in self.values and value is not None:
            self.values[name] = value
            self.origins[name] = origin

    def resolve(self) -> None:
        self._row()
        for name in self.workload.worded:
            self.put(name, self.workload.settings.get(name), GIVEN)
        self._structure()
        self._published()
        self._packs()
        for name, value in self.workload.settings.items():
            self.put(name, value if name != "optimiser" else _choice("optimiser", value, "adam"), ASSUMED)
        self._accumulation()
        self._framework()
        if self.workload.model in MESHES:
            self._mesh()

    def _row(self) -> None:
        """What the row's own columns say."""
        subject, place = self.subject, self.place
        self.put("task", "train" if subject.task == "train" else "infer", GIVEN)
        self.put("system", place.system, ASSUMED if place.chip_assumed else GIVEN)
        self.put("ipus", 1 << (place.chips - 1).bit_length(), GIVEN)
        self.put("batch", subject.whole("batch_micro"), GIVEN)
        self.put("hosts", subject.whole("hosts"), GIVEN)
        self.put("framework", self.software.framework, ASSUMED if "framework" in self.software.assumed else GIVEN)
        self.put("sdk", self.software.sdk, ASSUMED if "sdk" in self.software.assumed else GIVEN)
        for name, value in precision_of(subject.precision).items():
            self.put(name, value, GIVEN)
        if subject.task == "train":
            self.put("accumulation", subject.whole("grad_accum"), GIVEN)

    def _structure(self) -> None:
        """How the replica lies on IPUs; replicas fill the system unless the row says how many there are."""
        given = self.subject.whole("replicas")
        per = 1
        if self.found is not None and self.found.configuration.settings.get("splits"):
            configuration = self.found.configuration
            per = max(1, configuration.ipus // int(configuration.settings.get("replicas", 1)))
        elif self.found is not None or "stages" in self.workload.settings:
            source = self.workload.settings if self.found is None else self.found.configuration.settings
            per = int(source.get("stages", 1))
        origin = self._origin("replicas")
        if given is None and self.place.chips % per == 0:
            given, origin = self.place.chips // per, ASSUMED if self.found is None else origin
            self.put("replicas", given, origin)
        else:
            self.put("replicas", given, GIVEN)
        whole = self.subject.whole("batch_global")
        if self.values["task"] == "infer" and whole is not None and not self.place.gpu:
            self.put("batch", max(1, whole // int(self.values.get("replicas", 1))), origin)

    def _origin(self, name: str) -> str:
        if self.found is None or not self.found.exact or name in self.found.configuration.assumed:
            return ASSUMED
        return PUBLISHED

    def _published(self) -> None:
        known = {f.name for f in fields(RunConfig)}
        if self.found is not None:
            self._hosts(self.found.configuration)
            options = find(self.workload.model).options
            self.dims |= {name: size for name, size in self.found.configuration.dims.items() if name in options}
            for name, value in self.found.configuration.settings.items():
                if name == "accumulation" and (self.subject.whole("batch_global") or self.subject.task != "train"):
                    continue
                if name in known:
                    found = self._of_one_call(value) if name == "device_iterations" else value
                    self.put(name, found, self._origin(name))
        self.dims |= self.workload.dims

    def _hosts(self, published: Configuration) -> None:
        """Where loaders of pictures are known, a run on more or fewer IPUs has as many hosts for its IPUs."""
        counted = "loader_workers" in published.settings and self.workload.model != RECORDS
        if counted and self.place.chips != published.ipus:
            hosts = int(published.settings.get("hosts", 1)) * self.place.chips / published.ipus
            self.put("hosts", max(1, ceil(hosts)), ASSUMED)

    def _of_one_call(self, iterations: int) -> int:
        """Iterations of a loader of records: a call of the host takes as many samples as published, by any replicas."""
        if self.found is None or self.workload.model != RECORDS:
            return iterations
        published = int(self.found.configuration.settings.get("replicas", 1))
        return max(1, iterations * published // int(self.values.get("replicas", published)))

    def _packs(self) -> None:
        if self.workload.sequences_in_pack > 1:
            self.put("sequences_in_pack", self.workload.sequences_in_pack, ASSUMED)
        elif not self.workload.inference_packs and self.values.get("sequences_in_pack", 1.0) != 1.0:
            self.values["sequences_in_pack"] = 1.0
        options = find(self.workload.model).options
        if self.values.get("sequences_in_pack", 1.0) > 1 and "sequence" in self.dims and "pack" in options:
            self.dims.setdefault("pack", SEQUENCES_OF_PACK)

    def _accumulation(self) -> None:
        """From the global batch where the row gives only that. MLPerf's counts sequences, others' counts packs."""
        whole = self.subject.whole("batch_global")
        if self.values["task"] != "train" or whole is None:
            return
        unit = self.values.get("sequences_in_pack", 1.0) if "mlperf" in self.subject.round.lower() else 1.0
        rows = self.values.get("batch", 1) * self.values.get("replicas", self.place.chips) * unit
        self.put("accumulation", max(1, round(whole / rows)), ASSUMED if "batch" in self._assumed() else GIVEN)

    def _mesh(self) -> None:
        """A mesh is shared by all IPUs and the model is the part of one; wider vectors are named with the type."""
        self.values |= {"ipus": 1, "replicas": 1, "system": Place(self.place.chip, 1, 0, False).system}
        if self.workload.model == "zoo:stream-triad":
            return  # the one published kernel, in assembly
        words = f"{self.subject.precision} {self.subject.framework}".lower()
        self.dims["lanes"] = next((lanes for word, lanes in LANES if word in words), 1)
        self.dims["pieces"] = self.place.chips

    def _assumed(self) -> set[str]:
        return {name for name, origin in self.origins.items() if origin == ASSUMED}

    def _framework(self) -> None:
        """Defaults of the framework for what is still open."""
        chosen = framework(self.values["framework"])
        self.put("precision", "fp16", ASSUMED)
        if self.values["precision"] == "fp32":  # there are no other partials of it
            self.values["partials"], self.origins["partials"] = "fp32", self.origins["precision"]
        self.put("partials", chosen.partials, ASSUMED)
        self.put("batch", 1, ASSUMED)
        if self.values["task"] == "infer":
            stated_card = self.place.chip == "C600" and not self.place.chip_assumed
            self.put("queue_depth", CLIENTS_OF_CARD if stated_card else chosen.queue_depth, ASSUMED)


def precision_of(text: str) -> dict[str, Any]:
    """ "16.16" and the like; "half partials" where the row says so. Nothing for words that say nothing."""
    lowered = text.lower()
    found: dict[str, Any] = {}
    if "fp8" in lowered and "fp8" in CHOICES["precision"]:
        found["precision"] = "fp8"
    elif "fp8" in lowered or "16" in lowered or "half" in lowered:
        found["precision"] = "fp16"
    elif "32" in lowered or "float" in lowered:
        found["precision"] = "fp32"
    if "half partials" in lowered or "16.16" in lowered:
        found["partials"] = "fp16"
    return found


def _choice(name: str, value: str, otherwise: str) -> str:
    return value if value in CHOICES[name] else otherwise


def with_task(case: Case, task: str) -> Case:
    """The same replica doing ``task`` (an evaluation is inference with the training's layout)."""
    config = replace(
        case.config, task=task, accumulation=1, device_iterations=case.config.accumulation, recompute="none",
        checkpoints=(), offload="none", shard_optimiser=False, embedding_steps=1,
    )  # fmt: skip
    return replace(case, config=config)
