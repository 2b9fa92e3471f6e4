"""Predictions depend on what was measured alone, each metric is the right function of a step, and scores add up."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.machines.constants import NOMINAL
from simulator.validation import command
from simulator.validation.cases import case_of
from simulator.validation.configurations import read_configurations
from simulator.validation.figures import Figure, Subject, read_figures
from simulator.validation.metrics import evaluation_interval, predicted
from simulator.validation.predictions import Judged, Prediction, judge, predict
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs
from simulator.validation.scores import by, percentile, score
from simulator.validation.table import lines, to_json

KNOWN = read_configurations()
RUNS = Runs()
RESNET = Subject(
    round="MLPerf Training v1.1", division="closed", system="IPU-POD16", chips="16", model="ResNet-50 v1.5",
    task="train", framework="TensorFlow 1.15 SDK 2.3.0", precision="fp16 (16.16, half partials)", batch_micro="20",
    batch_global="3200", replicas="16", pipeline_stages="1", grad_accum="10", metric="throughput", unit="images/s",
    chip_type="GC200 1.33 GHz", hosts="1",
)  # fmt: skip
LATENCY = Subject(
    system="1x C600 (PCIe)", chips="1", model="ResNet-50", task="infer", framework="PopRT", precision="fp16",
    batch_micro="4", metric="latency_ms_avg", unit="ms", chip_type="C600",
)  # fmt: skip


def value(subject: Subject, **changes: str) -> float:
    case = case_of(replace(subject, **changes), KNOWN)
    return predicted(case, RUNS, NOMINAL)


def test_an_epoch_is_its_images_over_the_throughput() -> None:
    assert value(RESNET, metric="epoch_time_s_median") == pytest.approx(1_281_167 / value(RESNET))


def test_checkpoints_and_evaluation_cost_time_and_train_time_is_epochs_and_what_comes_after() -> None:
    with_checkpoints = value(RESNET, metric="throughput_incl_checkpoints")
    assert 0.9 * value(RESNET) < with_checkpoints < value(RESNET)
    minutes = value(RESNET, metric="time_to_train_min", samples_to_converge_or_epochs="38 epochs")
    after = value(RESNET, metric="offline_eval_phase_s", samples_to_converge_or_epochs="38 epochs")
    assert minutes == pytest.approx((38 * 1_281_167 / with_checkpoints + after) / 60)


def test_latency_is_the_batches_in_flight_over_the_throughput() -> None:
    throughput = value(LATENCY, metric="throughput")
    assert value(LATENCY) == pytest.approx(1e3 * 4 * 4 / throughput)  # four clients, batches of four
    slow = case_of(replace(LATENCY, metric="latency_ms_p99"), KNOWN)
    assert predicted(slow, RUNS, replace(NOMINAL, latency_tail=1.5)) == pytest.approx(1.5 * value(LATENCY))


def test_what_a_step_does_not_tell_is_refused_with_the_reason() -> None:
    with pytest.raises(NotModelled, match="init_s"):
        value(RESNET, metric="init_s")
    with pytest.raises(NotModelled, match="convergence is not simulated"):
        value(RESNET, metric="time_to_train_min")


def test_a_maximum_over_unknown_calls_and_a_chip_that_nobody_states_are_refused() -> None:
    with pytest.raises(NotModelled, match="unknown number"):
        value(LATENCY, metric="latency_ms_max")
    with pytest.raises(NotModelled, match="which chip"):
        case_of(replace(RESNET, system="4 IPUs (chip not stated)", chips="4", chip_type=""), KNOWN)


def test_tiles_for_input_and_output_hide_transfers_of_a_card() -> None:
    plain = replace(case_of(LATENCY, KNOWN).config, machine={})
    aside = replace(plain, machine={"host.io_tiles": 64})
    with_transfers, hidden = (RUNS.outcome("zoo:resnet50", each, NOMINAL) for each in (plain, aside))
    assert hidden.step_seconds < with_transfers.step_seconds
    assert hidden.device_cycles == with_transfers.device_cycles
    assert hidden.step_seconds >= hidden.device_seconds


def test_nothing_depends_on_ids_notes_families_sources_or_published_values() -> None:
    figures = [Figure("a", "s", "f", RESNET, 29_543.0), Figure("b", "t", "g", LATENCY, 2.24)]
    changed = [
        Figure(f"x{place}", f"elsewhere {place}", "another", each.subject, (each.published or 1) * 1000)
        for place, each in enumerate(figures)
    ]
    order = list(range(len(figures)))
    random.Random(3).shuffle(order)
    before = [each.prediction for each in judge(figures, KNOWN, RUNS)]
    after = judge([changed[place] for place in order], KNOWN, Runs())
    assert [each.prediction for each in after] == [before[place] for place in order]


def test_ids_may_be_shuffled_and_values_scaled_over_the_whole_file_and_every_reading_stays() -> None:
    def read(figure: Figure) -> str:
        try:
            case = case_of(figure.subject, KNOWN)
        except NotModelled as refused:
            return str(refused)
        return f"{case.model} {case.config} {case.origins}"

    figures = read_figures()
    ids = [each.id for each in figures]
    random.Random(5).shuffle(ids)
    shuffled = [replace(f, id=i, published=(f.published or 0) * 7) for f, i in zip(figures, ids, strict=True)]
    assert [read(each) for each in shuffled] == [read(each) for each in figures]


def test_a_gpu_row_is_predicted_by_the_comparator_and_with_a_wider_interval() -> None:
    row = Subject(
        system="DGX A100 640G (8x A100-SXM4-80GB)", chips="8", model="ResNet-50 v1.5", task="train", framework="mxnet",
        precision="mixed fp16", batch_global="3264", metric="throughput", unit="images/s", chip_type="A100-SXM4-80GB",
    )  # fmt: skip
    gpu, ipu = predict(row, KNOWN, RUNS), predict(RESNET, KNOWN, RUNS)
    assert gpu.value is not None
    assert ipu.value is not None
    assert 5_000 < gpu.value < 60_000
    assert (gpu.high or 0) / gpu.value > (ipu.high or 0) / ipu.value


def judged(
    published: float, value: float | None, low: float | None = None, high: float | None = None, family: str = "f"
) -> Judged:
    subject = Subject(metric="throughput", model="M", system="S", framework="F")
    found = Prediction(value, low, high, "why" if value is None else "")
    return Judged(Figure("i", "s: x", family, subject, published), found)


def test_scores_count_errors_coverage_and_widths() -> None:
    rows = [
        judged(100, 110, 90, 130), judged(100, 80, 70, 90, "g"), judged(100, 100, 95, 105), judged(100, None),
    ]  # fmt: skip
    found = score("all", rows)
    assert (found.rows, found.modelled) == (4, 3)
    assert (found.median, found.ninetieth, found.worst) == (pytest.approx(10), pytest.approx(20), pytest.approx(20))
    assert found.covered == pytest.approx(2 / 3)
    assert found.half_width == pytest.approx(100 * 10 / 80)
    assert [each.name for each in by(rows, lambda each: each.figure.family)] == ["f", "g"]
    assert rows[1].error_percent == pytest.approx(-20)
    assert percentile([1, 2, 3, 4], 0.5) == 2


def test_the_table_tells_reasons_and_its_json_has_every_key() -> None:
    rows = [judged(100, 110, 90, 130), judged(100, None)]
    text = "\n".join(lines(rows))
    assert "+10.0 %" in text
    assert "why" in text
    keys = {"id", "metric", "unit", "published", "predicted", "error_percent", "low", "high", "modelled", "reason"}
    assert all(keys <= set(entry) for entry in to_json(rows))
    assert [entry["modelled"] for entry in to_json(rows)] == [True, False]


def test_the_command_reads_files_it_has_never_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "unseen.csv"
    figures.write_text(
        "id,source,system,chips,model,task,framework,precision,batch_micro,metric,value,unit,chip_type\n"
        "1,s,1x C600,1,ResNet-50,infer,PopRT,fp16,4,throughput,7000,samples/s,C600\n"
        "2,s,1x C600,1,AlphaFold,infer,PopRT,fp16,4,throughput,7000,samples/s,C600\n",
        encoding="utf-8",
    )
    target = tmp_path / "rows.json"
    assert command.main(["--figures", str(figures), "--json", str(target)]) == 0
    known, unknown = json.loads(target.read_text(encoding="utf-8"))
    assert known["modelled"]
    assert known["low"] < known["predicted"] < known["high"]
    assert (unknown["modelled"], unknown["predicted"]) == (False, None)
    assert "AlphaFold" in unknown["reason"]
    assert "all rows" in capsys.readouterr().out
    assert command.main(["--figures", str(tmp_path / "none.csv")]) == 2


BERT = Subject(
    round="MLPerf Training v1.0", division="closed", system="IPU-POD16", chips="16", model="BERT-Large (MLPerf)",
    task="train", framework="PopART SDK 2.1.0", precision="fp16 (16.16, half partials)", batch_micro="2",
    batch_global="3072", replicas="4", pipeline_stages="4", grad_accum="192", metric="throughput",
    chip_type="GC200 1.33 GHz", hosts="1",
)  # fmt: skip


@pytest.mark.parametrize(("batch", "samples"), [(3072, 175_000), (4608, 200_000), (6144, 200_000), (6912, 225_000)])
def test_larger_batches_are_evaluated_less_often(batch: int, samples: int) -> None:
    assert evaluation_interval(batch) == samples


def test_an_evaluation_is_whole_global_batches_and_whole_steps_where_the_program_is_that_of_training() -> None:
    step = 3072 / value(BERT)
    pause = value(BERT, metric="eval_pause_s")
    assert pause == pytest.approx(4 * step)  # 10,000 sequences are three batches and a part
    assert value(BERT, metric="throughput_incl_eval") == pytest.approx(175_000 / (175_000 / value(BERT) + pause))
    forward = value(BERT, metric="eval_pause_s", framework="PopART SDK 2.5.1")
    assert 0.15 * pause < forward < 0.5 * pause


def test_what_rests_on_an_assumed_phase_is_told_with_less_certainty() -> None:
    phase = predict(replace(BERT, metric="eval_pause_s"), KNOWN, RUNS)
    step = predict(BERT, KNOWN, RUNS)
    assert (phase.high or 0) / (phase.value or 1) > (step.high or 0) / (step.value or 1)
