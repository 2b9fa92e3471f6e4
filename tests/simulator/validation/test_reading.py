"""Words of published rows and files become models, systems and settings; each reading is checked by hand."""

import csv
import os
from dataclasses import replace
from pathlib import Path

import pytest

from simulator import SimulatorError
from simulator.machines.constants import NOMINAL
from simulator.validation.cases import case_of, precision_of
from simulator.validation.configurations import parse_configurations, read_configurations, run_of, to_yaml
from simulator.validation.figures import Subject, parse_figures, read_figures
from simulator.validation.metrics import predicted
from simulator.validation.places import place_of
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs
from simulator.validation.software import software_of
from simulator.validation.workloads import workload_of

SHARED = Path(os.environ.get("PODIUM_SHARED", Path(__file__).parents[4] / "shared")) / "reference" / "published"
KNOWN = read_configurations()
RUNS = Runs()


@pytest.mark.parametrize(
    ("system", "chips", "chip_type", "chip", "count", "name"),
    [
        ("IPU-POD16", "16", "GC200 1.33 GHz", "GC200", 16, "pod16"),
        ("Bow Pod64 (16 IPU used)", "16", "Bow IPU 1.85 GHz", "BOW", 16, "bowpod64"),
        ("Bow Pod4", "4", "", "BOW", 4, "bow2000"),
        ("2 x GC200", "2", "GC200 1.33 GHz", "GC200", 2, "pod4"),
        ("IPU-M2000", "", "", "GC200", 4, "pod4"),
        ("Bow-2000", "", "", "BOW", 4, "bow2000"),
        ("4 x IPU-M2000", "", "", "GC200", 16, "pod16"),
        ("Bow-2000 (1 IPU used)", "1", "", "BOW", 1, "bow2000"),
        ("8 x GC2 (Mk1)", "", "GC2 Mk1 1.6 GHz", "GC2", 8, "gc2:8"),
        ("1x C600 (PCIe, 1 Mk2-class IPU with FP8)", "1", "C600", "C600", 1, "c600:1"),
        ("DGX A100 640G (8x A100-SXM4-80GB)", "8", "A100-SXM4-80GB 400W", "A100", 8, "pod16"),
    ],
)
def test_words_for_a_system(system: str, chips: str, chip_type: str, chip: str, count: int, name: str) -> None:
    place = place_of(Subject(system=system, chips=chips, chip_type=chip_type))
    assert (place.chip, place.chips, place.chip_assumed) == (chip, count, False)
    assert place.gpu or place.system == name


def test_a_chip_that_is_not_stated_is_assumed_and_said_so() -> None:
    place = place_of(Subject(system="1 IPU (PopRT benchmark, chip not stated)", chips="1"))
    assert (place.chip, place.chip_assumed) == ("GC200", True)


@pytest.mark.parametrize(
    ("text", "framework", "sdk", "assumed"),
    [
        ("PopART SDK 2.1.0", "popart", 2.1, ()),
        ("TensorFlow 1.15 SDK 2.3.0", "tensorflow", 2.3, ()),
        ("PyTorch Pre-SDK2.5", "pytorch", 2.4, ()),
        ("PyTorch SDK 3.x", "pytorch", 3.0, ()),
        ("PopRT", "poprt", 3.0, ("sdk",)),
        ("something else", "podium", 3.0, ("framework", "sdk")),
    ],
)
def test_words_for_a_framework(text: str, framework: str, sdk: float, assumed: tuple[str, ...]) -> None:
    found = software_of(text)
    assert (found.framework, found.sdk, found.assumed) == (framework, sdk, assumed)


@pytest.mark.parametrize(
    ("model", "task", "zoo", "dims"),
    [
        ("BERT-Large (MLPerf)", "train", "zoo:bert-large", {"sequence": 512, "mask_tokens": 76}),
        ("BERT Base Ph1 (SL128)", "train", "zoo:bert-base", {"sequence": 128, "mask_tokens": 20}),
        ("BERT Large Fine-Tuning (SL384 SQuAD)", "train", "zoo:bert-large-squad", {"sequence": 384}),
        ("BERT-Base SL256 (bertsquad-12)", "infer", "zoo:bert-base-squad", {"sequence": 256}),
        ("BERT-Base (SL128)", "infer", "zoo:bert-base-squad", {"sequence": 128}),
        ("RoBERTa-Large", "train", "zoo:roberta-large-squad", {"sequence": 384}),
        ("DistilBERT-Base SQuAD", "train", "zoo:distilbert-squad", {"sequence": 384}),
        ("albert", "infer", "zoo:albert-base-squad", {"sequence": 384}),
        ("GPT2-S", "train", "zoo:gpt2-small", {"sequence": 1024}),
        ("GPT2-M", "train", "zoo:gpt2-medium", {"sequence": 1024}),
        ("GPT-2 Medium", "infer", "zoo:gpt2-medium", {"sequence": 1024}),
        ("GPT2-L (SL512)", "train", "zoo:gpt2-large", {"sequence": 512}),
        ("GPT2-XL", "infer", "zoo:gpt2-xl", {"sequence": 1024}),
        ("EfficientNet-B4 G16-EfficientNet", "train", "zoo:efficientnet-b4-g16", {}),
        ("ViT Vision Transformer", "train", "zoo:vit-b16", {}),
        ("GNN kernel gather 256x128->1024 (inputs x features -> outputs)", "micro", "zoo:gather",
         {"inputs": 256, "features": 128, "outputs": 1024}),
        ("2D heat 5-pt mesh 8000x8000, 1000 steps", "hpc", "zoo:stencil2d",
         {"width": 8000, "height": 8000, "steps": 1000}),
        ("3D heat 7-pt mesh 508^3, 1000 steps", "hpc", "zoo:stencil3d",
         {"width": 508, "height": 508, "depth": 508, "steps": 1000}),
    ],
)  # fmt: skip
def test_words_for_a_model(model: str, task: str, zoo: str, dims: dict[str, int]) -> None:
    found = workload_of(Subject(model=model, task=task))
    assert found is not None
    assert found.model == zoo
    assert dims.items() <= found.dims.items()


@pytest.mark.parametrize(
    "model", ["distilRoBERTa", "HuBERT", "GroupBERT Base", "GPT-3 175B", "Conformer-L", "Conformer Small"]
)
def test_other_models_of_the_same_name_are_not_taken_for_one_that_is_built(model: str) -> None:
    found = workload_of(Subject(model=model, task="train"))
    assert found is None or found.refused


@pytest.mark.parametrize(("chips", "replicas"), [("2", 1), ("1", 1), ("16", 8)])
def test_a_published_layout_is_taken_only_where_its_replica_fits(chips: str, replicas: int) -> None:
    row = Subject(model="GPT2-S", task="infer", system="IPU-POD16", chips=chips, framework="PyTorch SDK 3.0")
    case = case_of(row, read_configurations())
    assert case.config.replicas == replicas
    assert case.config.splits == (() if chips == "1" else ("layer2.",))


def test_the_run_of_a_model_that_is_only_alike_is_an_assumption() -> None:
    row = Subject(model="RoBERTa Base", task="train", system="IPU-POD16", chips="16", framework="PyTorch SDK 3.0")
    assert {"batch", "splits", "recompute"} <= set(case_of(row, read_configurations()).assumed)


@pytest.mark.parametrize(
    ("names", "zoo", "dims"),
    [
        (("ResNet50", "ResNet-50 v1.5", "resnet_v1_50", "ResNet 50", "ResNet"), "resnet50", {}),
        (("ResNet-18", "resnet18"), "resnet18", {}),
        (("ResNet-101", "resnet_v2_101"), "resnet101", {}),
        (("ResNeXt101", "resnext-101_32x4d"), "resnext101", {}),
        (("EfficientNet-B4-G16", "EfficientNet B4 (group conv 16)", "EfficientNet-B4 G16-EfficientNet"),
         "efficientnet-b4-g16", {}),
        (("EfficientNet-B0", "efficientnet_b0", "EfficientNetB0 (Standard, group dim 1)"), "efficientnet-b0", {}),
        (("EfficientNet-B7",), "efficientnet-b7", {}),
        (("UNet (Medical)", "U-Net"), "unet", {}),
        (("Swin-T", "swin_tiny_patch4_window7_224"), "swin-tiny", {}),
        (("Swin Base 384",), "swin-base", {"size": 384, "window": 12}),
        (("ViT-L/16", "vit_large_patch16_224"), "vit-l16", {}),
        (("ViT-B/16", "ViT Fine-Tuning", "Vision Transformer", "DeiT-Base"), "vit-b16", {}),
        (("ViT-S/16",), "vit-s16", {}),
        (("DINO Vision Transformer", "DINO"), "dino-vit-b16", {}),
        (("DINO ViT-S/16",), "dino-vit-s16", {}),
        (("MobileNet v3", "MobileNetV3-Large"), "mobilenet-v3-large", {}),
        (("MobileNet v3 small",), "mobilenet-v3-small", {}),
    ],
)  # fmt: skip
def test_a_name_is_known_however_it_is_written(names: tuple[str, ...], zoo: str, dims: dict[str, int]) -> None:
    for name in names:
        found = workload_of(Subject(model=name, task="train"))
        assert found is not None, name
        assert (found.model, found.dims) == (f"zoo:{zoo}", dims), name


@pytest.mark.parametrize(
    "name",
    ["SSD ResNet34", "Wide ResNet-50", "SE-ResNet50", "EfficientNet-Lite4", "EfficientNetV2-S", "3D U-Net", "nnU-Net",
     "UNet++", "ViT-H/14", "MAE ViT-L", "SwinV2-B", "Mask R-CNN ResNet-50", "YOLOv4 p5", "DINOv2",
     "Stable Diffusion UNet"],
)  # fmt: skip
def test_another_model_is_not_taken_for_one_that_is_built_in(name: str) -> None:
    assert workload_of(Subject(model=name, task="train")) is None


def test_a_batch_of_the_whole_system_is_shared_by_the_replicas_of_inference() -> None:
    subject = Subject(
        system="Bow-2000", model="ResNet-50", task="infer", framework="PyTorch SDK 3.0", batch_global="16",
        metric="latency_ms_avg", unit="ms",
    )  # fmt: skip
    case = case_of(subject, KNOWN)
    assert (case.config.replicas, case.config.batch) == (4, 4)
    alone = case_of(replace(subject, system="Bow-2000 (1 IPU used)", chips="1", batch_global="4"), KNOWN)
    one, four = (predicted(each, RUNS, NOMINAL) for each in (alone, case))
    assert four == pytest.approx(one, rel=0.05), "a replica does not wait for the others"


def test_packed_training_counts_sequences_and_packed_inference_takes_its_own_number() -> None:
    training = workload_of(Subject(model="BERT Large Ph1 (SL128) Packed", task="train"))
    inference = workload_of(Subject(model="BERT-Base SQuAD SL384 (packed)", task="infer"))
    assert training is not None
    assert inference is not None
    assert (training.sequences_in_pack, training.inference_packs) == (1.17, False)
    assert (inference.sequences_in_pack, inference.inference_packs) == (1.0, True)


@pytest.mark.parametrize(
    ("model", "masked"), [("BERT-Base SQuAD SL384 (packed)", True), ("DeBERTa SQuAD (packed)", False)]
)
def test_a_pack_is_masked_only_where_the_model_can_be_told(model: str, masked: bool) -> None:
    row = Subject(
        model=model, task="infer", system="C600", chips="1", framework="PopRT", precision="fp16", batch_micro="10",
        metric="throughput",
    )  # fmt: skip
    case = case_of(row, KNOWN)
    assert (case.config.sequences_in_pack > 1, "pack" in case.config.dims) == (True, masked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fp16 (16.16, half partials)", {"precision": "fp16", "partials": "fp16"}),
        ("16.32", {"precision": "fp16"}),
        ("32.32", {"precision": "fp32"}),
        ("float2", {"precision": "fp32"}),
        ("half4", {"precision": "fp16"}),
        ("", {}),
    ],
)
def test_words_for_a_precision(text: str, expected: dict[str, str]) -> None:
    assert precision_of(text) == expected


MLPERF = Subject(
    round="MLPerf Training v2.0", division="closed", system="Bow Pod16", chips="16", model="BERT-Large (MLPerf)",
    task="train", framework="PopART SDK 2.5.1", precision="fp16 (16.16, half partials)", batch_micro="3",
    batch_global="3072", replicas="2", pipeline_stages="9", grad_accum="256", metric="throughput",
    chip_type="Bow IPU 1.85 GHz", hosts="1",
)  # fmt: skip


def test_a_row_finds_the_run_configuration_of_its_round_division_system_and_framework() -> None:
    case = case_of(MLPERF, KNOWN)
    origins = dict(case.origins)
    assert case.configuration == "mlperf-v2.0-bert-pod16-closed"
    assert case.config.batch * case.config.accumulation * (case.config.replicas or 0) * 2 == 3072
    assert case.config.stage_ipus == (0, 1, 2, 3, 4, 5, 6, 7, 0)
    assert case.config.splits[1:3] == ("layer3.", "layer6.ffn.")
    assert (origins["batch"], origins["splits"], origins["recompute"]) == ("given", "published", "published")


def test_records_take_the_run_of_their_own_data_set() -> None:
    row = Subject(
        system="Bow Pod16", chips="16", model="SchNet HydroNet 500k ablation +async loader", task="train",
        framework="PyTorch PopTorch", replicas="16", metric="throughput", chip_type="Bow IPU 1.85 GHz",
    )  # fmt: skip
    assert case_of(row, KNOWN).configuration == "hydronet-packed"
    small = case_of(Subject(**{**vars(row), "model": "SchNet QM9 ablation +packing"}), KNOWN)
    assert small.configuration == "hydronet-qm9-packed"


def test_a_row_without_sizes_takes_them_from_the_nearest_run_and_says_that_they_are_assumed() -> None:
    row = Subject(
        system="Bow Pod16", chips="16", model="BERT Base Ph2 (SL512)", task="train", framework="PopART SDK 3.1",
        precision="16.16", batch_global="16384", metric="throughput", chip_type="Bow IPU 1.85 GHz",
    )  # fmt: skip
    case = case_of(row, KNOWN)
    assert case.configuration == "examples-bert-pytorch-pretrain_base_512"
    assert {"batch", "splits", "recompute"} <= set(case.assumed)
    assert case.config.batch * case.config.accumulation * (case.config.replicas or 0) == 16384


def test_a_model_that_nothing_stands_for_is_refused_with_the_reason() -> None:
    with pytest.raises(NotModelled, match="no built-in model stands for 'AlphaFold'"):
        case_of(Subject(model="AlphaFold", task="train"), KNOWN)


def test_files_that_are_none_are_refused_in_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff\xfe\x00")
    for call in (
        lambda: parse_figures("id,source\n1,2\n", "short.csv"),
        lambda: parse_figures("", "empty.csv"),
        lambda: read_figures(broken),
        lambda: read_figures(tmp_path / "missing.csv"),
        lambda: parse_configurations("- a list", "list.yaml"),
        lambda: parse_configurations("a: [", "broken.yaml"),
        lambda: parse_configurations("a: {popart_dtype: FLOAT16}", "short.yaml"),
    ):
        with pytest.raises(SimulatorError) as refused:
            call()
        assert refused.value.code == "validation.file"


@pytest.mark.parametrize(
    ("hosts", "instances", "cores"), [(1, 8, 128), (1, 2, 32), (4, 16, 64), (4, 32, 128), (2, 64, 128)]
)
def test_instances_decode_with_the_cores_of_their_numa_nodes(hosts: int, instances: int, cores: int) -> None:
    text = "run: {model: resnet, model_size: 50, batch_size: 20, replicas: 16, host_servers: %d, poprun_instances: %d}"
    settings = parse_configurations(text % (hosts, instances), "runs.yaml")[0].settings
    assert (settings["hosts"], settings["loader_workers"]) == (hosts, cores)
    without = parse_configurations(text.partition(", poprun")[0] % hosts + "}", "runs.yaml")[0].settings
    assert without["hosts"] == hosts
    assert "loader_workers" not in without


@pytest.mark.parametrize(("chips", "hosts"), [("16", None), ("64", 4), ("4", 1)])
def test_a_run_of_another_size_has_hosts_for_its_ipus(chips: str, hosts: int | None) -> None:
    subject = Subject(
        system=f"Bow Pod{chips}", chips=chips, model="ViT Fine-Tuning", task="train", framework="PyTorch SDK 3.0",
        chip_type="Bow", batch_global="2040", metric="throughput", unit="items/s",
    )  # fmt: skip
    case = case_of(subject, KNOWN)
    assert (case.config.hosts, case.config.loader_workers) == (hosts, 64)
    assert case.config.dims == {"dropout": 10}


def test_our_layout_of_configurations_reads_back() -> None:
    assert parse_configurations(to_yaml(KNOWN), "again") == KNOWN


def test_every_published_configuration_is_a_model_and_settings() -> None:
    for each in KNOWN:
        model, config = run_of(each)
        assert model.startswith("zoo:")
        assert config.task == each.task


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no published figures in {SHARED} (PODIUM_SHARED)")
def test_the_files_that_come_with_podium_say_what_the_published_ones_do() -> None:
    published = read_configurations(SHARED / "configs.yaml")
    ours = {each.name: each for each in KNOWN}
    assert all(ours[each.name] == each for each in published)
    with (SHARED / "calibrate.csv").open(encoding="utf-8") as file:
        values = {row["id"]: float(row["value"]) for row in csv.DictReader(file)}
    assert {each.id: each.published for each in read_figures()} == values
