"""Files of figures and configurations that are broken: one clear sentence, no words of a parser's insides."""

from pathlib import Path

import pytest

from simulator.__main__ import main
from simulator.validation.cases import case_of
from simulator.validation.figures import Subject, parse_figures
from simulator.validation.predictions import Judged, Prediction
from simulator.validation.refusals import NotModelled
from simulator.validation.table import lines

HEAD = "id,source,system,model,metric,value\n"
INSIDES = ("Error", "codec", "0x", "Traceback", "unicode string", "<", "object", "argument", "\n\n")


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["validate", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "[validation.file]" in told.err
    assert not [word for word in INSIDES if word in told.err], told.err
    return told.err


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "holds no rows"),
        (HEAD.encode(), "holds no rows"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"a,b\n1,2\n", "lacks the columns id, source"),
        (HEAD.encode() + b'"a,s,POD16,ResNet-50,throughput,1\n', "from line 2 on: an open quote"),
        (HEAD.encode() + b'"' + b"x" * 200_000 + b'",s,POD16,ResNet-50,throughput,1\n', "more than 131,072 letters"),
        (b"id," + HEAD.encode() + b"a,b,s,POD16,ResNet-50,throughput,1\n", "the column 'id' twice"),
    ],
)
def test_broken_figures(content: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "figures.csv").write_bytes(content)
    assert why in refused(capsys, "--figures", str(tmp_path / "figures.csv"))


@pytest.mark.parametrize(
    ("path", "why"), [("/no/such.csv", "no such file"), ("/", "a directory"), ("/dev/zero", "not a file")]
)
def test_figures_that_are_no_file(path: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert why in refused(capsys, "--figures", path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("a: [1,\nb: }", "is not YAML (line 2"),
        ("- a", "not a mapping"),
        ("a: !!python/name:os.system x", "is not YAML (line 1"),
        ("[" * 20_000, "is not YAML"),
        ("a: 2021-99-99", "is not YAML that can be read"),
        ("a: {popart_dtype: 3}", "an entry 'a' without 'layers_per_ipu'"),
        ("a: {settings: {batch: 3}, model: resnet50, task: train}", "an entry 'a' without 'framework'"),
        ("a: {settings: 5, model: resnet50, task: train, framework: x}", "a value of another kind"),
    ],
)
def test_broken_configurations(content: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "figures.csv").write_text(HEAD + "a,s,POD16,no such model,throughput,1\n")
    (tmp_path / "runs.yaml").write_text(content)
    words = ("--figures", str(tmp_path / "figures.csv"), "--configs", str(tmp_path / "runs.yaml"))
    assert why in refused(capsys, *words)


def test_a_stray_quote_and_short_rows_are_let_pass() -> None:
    rows = parse_figures(HEAD + 'a,"s" t,POD16,ResNet-50,throughput,1\nb\nc,s,POD16,ViT,throughput,2,3,4\n', "x")
    assert [(row.id, row.subject.model, row.published) for row in rows] == [
        ("a", "ResNet-50", 1.0), ("b", "", None), ("c", "ViT", 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (Subject(), "the row names no model"),
        (Subject(model="BERT-Large", system="IPU-POD16"), "the row does not say its task: infer or train"),
        (Subject(model="BERT-Large", task="prune", system="IPU-POD16"), "its task 'prune' is none that it is run for"),
        (Subject(model="Deep Blue", task="train"), "no built-in model stands for 'Deep Blue'"),
    ],
)
def test_the_reason_is_what_the_row_lacks(subject: Subject, reason: str) -> None:
    with pytest.raises(NotModelled, match=reason):
        case_of(subject, [])


def test_tasks_may_be_nouns() -> None:
    rows = parse_figures("task," + HEAD + "Training,a,s,IPU-POD16,ResNet-50,throughput,1\ninference,b,s,,,,\n", "x")
    assert [row.subject.task for row in rows] == ["train", "infer"]


def test_names_in_a_table_move_no_cursor() -> None:
    row = parse_figures(HEAD + "a,s,POD\x1b[31m,\x1b[2JBERT,through\x07put,1\n", "x")[0]
    text = "\n".join(lines([Judged(row, Prediction(None, reason="no \x1b model"))]))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_file_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.csv"
    figures.write_text(HEAD + "a,s,POD16,no such model,throughput,1\n")
    assert main(["validate", "--figures", str(figures), "--json", str(figures)]) == 2
    assert "output.not_written" in capsys.readouterr().err
    assert figures.read_text().startswith(HEAD)
