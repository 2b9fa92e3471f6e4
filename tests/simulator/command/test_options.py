"""Options of settings: one for each that changes a report, files below them, and what was given."""

from dataclasses import fields
from pathlib import Path

import pytest

from simulator import RunConfig, SimulatorError
from simulator.command.options import OF_NUMBERS, Parser, Settings, add_settings, one_setting, settings_of
from simulator.zoo.catalogue import ZOO


def settings(*words: str) -> Settings:
    parser = Parser(prog="test")
    parser.add_argument("model", nargs="?")
    add_settings(parser)
    return settings_of(parser.parse_args(list(words)))


def test_every_setting_of_a_report_has_an_option() -> None:
    parser = Parser(prog="test")
    add_settings(parser)
    flags = {action.dest for action in parser._actions}
    assert {field.name for field in fields(RunConfig)} - OF_NUMBERS - {"dims"} <= flags
    assert not OF_NUMBERS & flags


def test_nothing_given_is_the_default() -> None:
    assert settings() == Settings(RunConfig(), frozenset())


@pytest.mark.parametrize("kernel", [entry.id for entry in ZOO if not entry.trainable])
def test_a_kernel_is_run_once_and_not_trained_unless_somebody_says_so(kernel: str) -> None:
    assert settings(kernel) == Settings(RunConfig(task="infer", batch=1), frozenset())
    found = settings(kernel, "--task", "train", "--batch", "4")
    assert (found.config.task, found.config.batch) == ("train", 4)


def test_each_kind_of_option_is_read() -> None:
    found = settings(
        "--batch", "4", "--ipus", "none", "--splits", "a, b.c", "--stage-ipus", "0,1,0", "--shard-optimiser",
        "--stage-proportions", "0.2,0.3,0.4", "--sdk", "2.5", "--dim", "width=7", "--machine", "chip.clock=1.5e9",
    )  # fmt: skip
    config = found.config
    assert (config.batch, config.ipus, config.splits, config.stage_ipus) == (4, None, ("a", "b.c"), (0, 1, 0))
    assert (config.stage_proportions, config.sdk, config.shard_optimiser) == ((0.2, 0.3, 0.4), 2.5, True)
    assert (config.dims, config.machine) == ({"width": 7}, {"chip.clock": 1.5e9})
    assert found.given == {
        "batch", "ipus", "splits", "stage_ipus", "shard_optimiser", "stage_proportions", "sdk", "dims", "machine",
    }  # fmt: skip
    assert found.origins["batch"] == "given"


def test_an_option_wins_over_the_file_and_dims_are_merged(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("batch: 8\nprecision: fp16\nsplits: [a]\ndims: {width: 3, height: 4}\n")
    config = settings("--config", str(file), "--batch", "2", "--dim", "width=5").config
    assert (config.batch, config.precision, config.splits) == (2, "fp16", ("a",))
    assert config.dims == {"width": 5, "height": 4}


def test_a_file_of_machine_constants_is_a_variant(tmp_path: Path) -> None:
    file = tmp_path / "faster.yaml"
    file.write_text("chip.clock: 2.0e+9\nexchange.bytes_per_cycle: 8\n")
    assert settings("--machine", str(file)).config.machine == {"chip.clock": 2.0e9, "exchange.bytes_per_cycle": 8}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--batch", "many"], "config.invalid", "'batch' cannot be 'many'. Use a whole number"),
        (["--batch", "0"], "config.invalid", "from 1 to"),
        (["--recompute", "twice"], "config.invalid", "none, stages, checkpoints"),
        (["--stage-ipus", "0,x"], "config.invalid", "stage_ipus"),
        (["--machine", "chip.clock=fast"], "config.invalid", "a number"),
        (["--machine", "no-such-file.yaml"], "config.file", "no such file"),
        (["--nonsense"], "command.invalid", "--help"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(words: list[str], code: str, said: str) -> None:
    with pytest.raises(SimulatorError) as stopped:
        settings(*words)
    assert stopped.value.code == code
    assert said in stopped.value.message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("batch=32", ("batch", 32)),
        ("available-memory-proportion=0.3", ("available_memory_proportion", 0.3)),
        ("shard_optimiser=true", ("shard_optimiser", True)),
        ("ipus=none", ("ipus", None)),
        ("splits=a,b", ("splits", ("a", "b"))),
        ("dims.width=4", ("dims", {"width": 4})),
        ("machine.chip.clock=1e9", ("machine", {"chip.clock": 1e9})),
    ],
)
def test_one_setting_is_a_name_and_its_value(text: str, found: tuple[str, object]) -> None:
    assert one_setting(text) == found


@pytest.mark.parametrize("text", ["batch", "nothing=1", "machine=1", "batch.size=2", "=3"])
def test_one_setting_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SimulatorError, match="changes nothing"):
        one_setting(text)


def test_help_says_which_defaults_a_published_run_replaces() -> None:
    for as_published in (True, False):
        parser = Parser(prog="test")
        add_settings(parser, as_published=as_published)
        text = " ".join(parser.format_help().split())
        assert ("of weights and activations (fp32 *)" in text) == as_published
        assert ("With *, of a built-in model: as in its published run" in text) == as_published
        assert "version of the SDK, such as 2.5 (3.3)" in text  # no published run says it


def test_every_setting_is_explained() -> None:
    parser = Parser(prog="test")
    add_settings(parser)
    assert [action.dest for action in parser._actions if not action.help or len(action.help) < 8] == []
