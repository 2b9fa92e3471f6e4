"""A prediction knows what was measured and nothing of the result: files, code and constants are searched."""

import ast
import csv
import re
from dataclasses import fields, replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

import simulator
from simulator.datafiles import read_data
from simulator.frameworks.catalogue import frameworks
from simulator.machines.constants import NAMES, NOMINAL, fitted
from simulator.machines.facts import facts
from simulator.machines.ipu import chips
from simulator.validation.cases import case_of
from simulator.validation.configurations import read_configurations
from simulator.validation.figures import Subject, parse_figures
from simulator.validation.fitting import Row, constants_of, log_predictions, slopes_at, vector_of
from simulator.validation.predictions import predict
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs
from simulator.zoo.catalogue import ZOO

ROOT = Path(simulator.__file__).parent
KNOWN = read_configurations()
RUNS = Runs()
# what times and sizes a step; chosen formulas live here, and only here
PRICING = ("planner", "schedule", "memory", "parallel", "machines", "frameworks", "comparator", "composites")
# 0, a half, 1 and 2 are arithmetic, powers of ten are units and tolerances
PLAIN = frozenset({0.0, 0.5, 1.0, 2.0} | {10.0**power for power in (-12, -9, -6, 3, 6, 9, 12)})

GATHER = Subject(
    system="1 Bow IPU", chips="1", model="GNN kernel gather 256x128->1024 (inputs x features -> outputs)", task="micro",
    framework="PopTorch", metric="cycles", unit="cycles", chip_type="Bow IPU 1.85 GHz",
)  # fmt: skip
MESH = Subject(
    system="1 x GC200", chips="1", model="2D heat 5-pt mesh 8000x8000, 1000 steps", task="hpc",
    framework="Poplar SDK 2.2.0", metric="time_s", unit="s", chip_type="GC200 1.33 GHz",
)  # fmt: skip


def file_of(subjects: list[Subject], *, value: str, more: str = "") -> str:
    """A file of figures with ``value`` for all of them and another column with words of the publisher."""
    out = StringIO()
    columns = ["id", "source", "family", "value", *(f.name for f in fields(Subject)), *([more] if more else [])]
    writer = csv.DictWriter(out, columns)
    writer.writeheader()
    for place, subject in enumerate(subjects):
        row = {"id": f"row {place}", "source": "s", "family": "f", "value": value} | subject.__dict__
        writer.writerow(row | ({more: "measured 12,345; fits 99 %"} if more else {}))
    return out.getvalue()


def test_a_file_without_results_and_one_with_notes_are_predicted_alike() -> None:
    plain = parse_figures(file_of([GATHER, MESH], value="1.5"), "a")
    without = parse_figures(file_of([MESH, GATHER], value="to be measured", more="notes"), "b")
    assert [each.published for each in without] == [None, None]
    before = [predict(each.subject, KNOWN, RUNS) for each in plain]
    after = [predict(each.subject, KNOWN, Runs()) for each in reversed(without)]
    assert [each.value for each in before] == [each.value for each in after]
    assert [each.low for each in before] == [each.low for each in after]
    assert all(each.modelled for each in before)


def test_a_subject_has_no_place_for_a_result_an_id_or_a_note() -> None:
    assert not {f.name for f in fields(Subject)} & {"value", "published", "id", "source", "notes", "family"}


def test_published_values_are_read_where_errors_are_counted_and_constants_fitted_and_nowhere_else() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "published" and path.parent.name == "validation"
    }
    assert readers == {"validation/predictions.py", "validation/fitting.py", "validation/table.py"}
    judged = (ROOT / "validation" / "predictions.py").read_text("utf-8")
    predicting = judged[judged.index("def predict(") :]
    assert "published" not in predicting


def test_twelve_numbers_at_most_are_fitted_and_all_of_them_are_in_one_file() -> None:
    assert len(fitted()) <= 12
    assert set(fitted()) == set(NAMES)
    others = [*facts().values(), *(fact for known in chips().values() for fact in known.values())]
    assert not [fact.name for fact in others if fact.confidence == "fitted"]
    assert all(fact.low <= fact.value <= fact.high for fact in fitted().values())


def test_every_fitted_constant_moves_a_prediction() -> None:
    resnet = Subject(
        system="Bow Pod16", chips="16", model="ResNet-50 v1.5", task="train", framework="PyTorch SDK 3.0",
        precision="16.16", batch_micro="20", replicas="16", grad_accum="2", metric="throughput", chip_type="Bow IPU",
    )  # fmt: skip
    tail = Subject(
        system="1x C600 (PCIe)", chips="1", model="ResNet-50", task="infer", framework="PopRT", precision="fp16",
        batch_micro="4", metric="latency_ms_p99", chip_type="C600",
    )  # fmt: skip
    gpu = replace(GATHER, system="1 A100", framework="PyTorch", chip_type="A100", metric="time_us", unit="us")
    rows = [Row(case_of(each, KNOWN), 1.0, "") for each in (resnet, tail, gpu)]
    product = replace(resnet, system="DGX A100", chips="8", chip_type="A100", framework="mxnet", batch_global="3264")
    rows.append(Row(case_of(product, KNOWN), 1.0, ""))
    vector = vector_of(NOMINAL)
    slopes = slopes_at(rows, RUNS, vector, log_predictions(rows, RUNS, constants_of(vector)))
    assert [name for name, found in zip(NAMES, np.abs(slopes).max(axis=0), strict=True) if found < 1e-6] == []


@pytest.mark.parametrize("package", PRICING)
def test_factors_in_the_code_are_named_and_say_what_they_are(package: str) -> None:
    """A number with a fraction stands in a constant of its module, with a comment; all others belong in data files."""
    for path in (ROOT / package).rglob("*.py"):
        text = path.read_text("utf-8")
        lines, tree = text.splitlines(), ast.parse(text)
        named = {
            inner.lineno
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.ClassDef)
            for inner in ast.walk(node)
            if hasattr(inner, "lineno")
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value not in PLAIN:
                where = f"{path.relative_to(ROOT)}:{node.lineno}: {lines[node.lineno - 1].strip()}"
                assert node.lineno in named, where


def entries(parsed: object) -> list[dict[str, object]]:
    """Every mapping with a value of its own, however deep."""
    if isinstance(parsed, dict):
        found = [parsed] if "value" in parsed else []
        return found + [each for inner in parsed.values() for each in entries(inner)]
    return [each for inner in parsed for each in entries(inner)] if isinstance(parsed, list) else []


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("machines", "facts.yaml"), ("machines", "chips.yaml"), ("machines", "fitted.yaml"),
        ("validation", "metrics.yaml"), ("validation", "workloads.yaml"), ("report", "residuals.yaml"),
    ],
)  # fmt: skip
def test_every_number_of_a_data_file_says_where_it_is_from(package: str, name: str) -> None:
    found = entries(read_data(f"simulator.{package}", name))
    assert found
    for entry in found:
        source = str(entry.get("source") or entry.get("why") or "")
        assert len(source) > 10, entry


def test_nothing_is_said_to_have_been_chosen_because_it_agrees_with_what_was_measured() -> None:
    told = [*facts().values(), *(fact for known in chips().values() for fact in known.values())]
    suspect = re.compile(r"agrees? with .*measured|fits? (the|published)|tuned|so that .* match", re.IGNORECASE)
    assert [fact.name for fact in told if suspect.search(fact.source)] == []


def test_what_is_assumed_of_a_run_or_a_framework_is_listed_with_its_source() -> None:
    """The audit: every inferred or recalled fact has words behind it, and there is no empty one among them."""
    guessed = [fact for fact in facts().values() if fact.confidence in ("inferred", "recalled")]
    assert len(guessed) > 20
    assert [fact.name for fact in guessed if len(fact.source.split()) < 4] == []
    assert [each.name for each in frameworks().values() if len(each.source.split()) < 4] == []
    assert [each.name for each in KNOWN if len(each.source) < 10] == []
    assert [each.id for each in ZOO if len(each.run.source) < 10] == []


@pytest.mark.parametrize("model", ["conformer-encoder", "roformer", "videobert"])
def test_a_model_whose_shape_nobody_published_predicts_no_row(model: str) -> None:
    with pytest.raises(NotModelled, match="published"):
        case_of(Subject(model=model, task="infer", system="1x C600", chips="1", framework="PopRT"), KNOWN)
