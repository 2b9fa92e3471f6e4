"""Files that people name: read within bounds, or a phrase that says why not."""

from pathlib import Path

import pytest

from simulator.textfiles import Unreadable, read_text


def test_text_is_read_without_its_mark(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\xc3\xbc")
    assert read_text(tmp_path / "a", 6) == "aü"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none", "no such file"),
        ("folder", "is a directory"),
        ("large", "larger than 6 bytes"),
        ("latin", "not text in UTF-8"),
        ("nul\0", "null byte"),
        ("x" * 300, "too long"),
    ],
)
def test_what_is_no_text_says_why(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"1234567")
    (tmp_path / "latin").write_bytes(b"\xe4\xf6")
    with pytest.raises(Unreadable, match=why):
        read_text(tmp_path / name, 6)


def test_an_endless_device_is_not_read() -> None:
    with pytest.raises(Unreadable, match="is not a file"):
        read_text(Path("/dev/zero"), 6)
