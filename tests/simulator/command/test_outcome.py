"""How commands end: what cannot be written is refused before the work, and told when it happens all the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from simulator import SimulatorError
from simulator.command.outcome import guarded, writable, written

ROOT = Path(__file__).parents[3]


def refusal(*paths: Path, read: tuple[Path, ...] = ()) -> str:
    with pytest.raises(SimulatorError) as refused:
        writable(*paths, read=read)
    assert refused.value.code == "output.not_written"
    return refused.value.message


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    assert "no such file or directory" in refusal(tmp_path / "none" / "report.html")
    assert "directory" in refusal(tmp_path)
    assert "too long" in refusal(tmp_path / ("x" * 300))
    writable(tmp_path / "report.html", None, Path("-"))
    assert not list(tmp_path.iterdir())  # asking writes nothing


def test_outputs_share_no_file_and_replace_nothing_that_is_read(tmp_path: Path) -> None:
    model, link = tmp_path / "model.onnx", tmp_path / "link.html"
    model.write_text("a model")
    link.symlink_to(model)
    assert "the same file" in refusal(tmp_path / "a", tmp_path / "." / "a")
    assert "what this run reads" in refusal(model, read=(model,))
    assert "what this run reads" in refusal(link, read=(model,))
    writable(tmp_path / "a", tmp_path / "b", read=(model, Path("zoo:mnist")))


def test_a_full_disk_is_told_with_the_file() -> None:
    with pytest.raises(SimulatorError, match="/dev/full cannot be written: no space left"):
        written(Path("/dev/full"), "x" * 100_000)


def test_a_full_standard_output_is_no_fault_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise OSError(28, "No space left on device")

    assert guarded(work, as_json=True) == 2
    told = capsys.readouterr()
    assert "Standard output cannot be written: no space left on device" in told.err
    assert told.out == ""


def test_another_error_of_the_system_is_ours(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise FileNotFoundError(2, "No such file", "facts.yaml")

    assert guarded(work, as_json=False) == 5
    assert "[internal]" in capsys.readouterr().err


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_do_not_matter(closed: str) -> None:
    line = f'exec "{sys.executable}" -m simulator models mnist {closed}'
    assert subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, check=False).returncode == 0
