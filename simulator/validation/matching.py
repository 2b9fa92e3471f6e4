"""Finds the published run configuration behind a row: by round, division, system, model, framework and sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.validation.figures import Subject
from simulator.validation.layouts.entry import Configuration
from simulator.validation.places import Place
from simulator.validation.software import Software
from simulator.validation.workloads import Workload

ROUND = re.compile(r"v\d+\.\d+")
# models whose runs were configured alike
ALIKE = {"roberta-base-squad": "bert-base-squad", "deberta-base": "bert-base-squad"}
NEAR = 0.02  # batch sizes on pages are rounded by up to this share


@dataclass(frozen=True)
class Match:
    """``exact``: the row's own run (model, round, framework and sequence agree), so that its values were published for
    it."""

    configuration: Configuration
    exact: bool


def match(
    subject: Subject, workload: Workload, place: Place, software: Software, known: Sequence[Configuration]
) -> Match | None:
    """The nearest configuration of the same model and task, or None where there is none."""
    model, task = workload.model.removeprefix("zoo:"), "train" if subject.task == "train" else "infer"
    candidates = [each for each in known if each.model == ALIKE.get(model, model) and each.task == task]
    candidates = [each for each in candidates if ipus_of_replica(each) <= place.chips]
    if task == "infer" and place.chip != "C600":
        candidates = [each for each in candidates if each.chip != "C600"]
    if not candidates:
        return None
    marks = [(_marks(each, subject, workload, place, software), -index) for index, each in enumerate(candidates)]
    best, index = max(marks)
    found = candidates[-index]
    return Match(found, all(best[:3]) and found.model == model)


def _marks(
    each: Configuration, subject: Subject, workload: Workload, place: Place, software: Software
) -> tuple[int, ...]:
    """What agrees, the weightiest first."""
    mlperf = ROUND.search(subject.round) if "mlperf" in subject.round.lower() else None
    round_named = mlperf.group(0) if mlperf else ""
    sequence = workload.dims.get("sequence", 0)
    micro, whole = subject.whole("batch_micro"), subject.whole("batch_global")
    packed = each.settings.get("sequences_in_pack", 1.0) > 1
    return (
        sequence == 0 or each.dims.get("sequence", sequence) == sequence,
        each.framework == software.framework,
        each.round == round_named or not round_named,
        packed == (workload.sequences_in_pack > 1),
        _same_phase(each, subject),
        workload.settings.get("accumulation") in (None, each.settings.get("accumulation")),
        not (subject.division and each.division) or subject.division == each.division,
        each.chip in ("", place.chip),
        each.ipus == place.chips,
        micro is None or each.settings.get("batch") == micro,
        whole is None or _near(global_batch(each), whole),
        each.chip == ("" if place.chip_assumed else place.chip),
    )


def _same_phase(each: Configuration, subject: Subject) -> bool:
    """A row of fine-tuning is none of training from scratch, where both are told."""
    name, words = each.name.lower(), subject.model.lower()
    scratch = "pretrain" in name.replace("-", "")
    return not ("fine" in words and scratch) and not ("pre" in words and "train" in words and "fine" in name)


def ipus_of_replica(each: Configuration) -> int:
    """IPUs of one replica; 1 where a configuration tells no system."""
    return max(1, each.ipus // int(each.settings.get("replicas", 1)))


def global_batch(each: Configuration) -> int:
    """Rows of a global batch: micro-batch x accumulation x replicas."""
    settings = each.settings
    return int(settings.get("batch", 1) * settings.get("accumulation", 1) * settings.get("replicas", 1))


def _near(ours: int, published: int) -> bool:
    return abs(ours - published) <= NEAR * published
