"""Ports, stamps, addresses, secrets, certificates: the small parts that the launcher is made of."""

import socket
import ssl
import stat
from pathlib import Path

import pytest

from portal.ops import ports, stamps, tls
from portal.ops.console import LogTail, last_lines
from portal.ops.environment import Address
from portal.ops.errors import OpsError
from portal.ops.home import Home, lock
from portal.ops.stages import Outcome


def test_a_taken_port_gives_the_next_free_one() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        taken = holder.getsockname()[1]
        assert not ports.is_free(taken)
        picked = ports.pick(taken)
        assert picked != taken
        assert ports.is_free(picked)


def test_private_ports_lie_below_those_of_outgoing_connections() -> None:
    assert all(20000 <= ports.private() <= 32000 for _ in range(20))


def test_a_stamp_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    first = stamps.fingerprint(tmp_path, ["*.py"])
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("compiled")
    assert stamps.fingerprint(tmp_path, ["*.py", "**/*"]) == first, "what running it leaves is no change"
    (tmp_path / "a.py").write_text("2")
    second = stamps.fingerprint(tmp_path, ["*.py"])
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    third = stamps.fingerprint(tmp_path, ["*.py"])
    assert len({first, second, third}) == 3
    assert not stamps.is_current(tmp_path / "stamp", third)
    stamps.write(tmp_path / "stamp", third)
    assert stamps.is_current(tmp_path / "stamp", third)
    assert not stamps.is_current(tmp_path / "stamp", first)


def test_secrets_are_made_once_and_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    key, passwords = home.secret_key(), home.passwords()
    assert (home.secret_key(), home.passwords()) == (key, passwords)
    assert len(key) >= 50
    assert len(set(passwords.values())) == len(passwords)
    for path in (home.secret_file, home.password_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_password_file_is_one_sentence(tmp_path: Path) -> None:
    home = Home(tmp_path).create()
    home.password_file.write_text("{")
    with pytest.raises(OpsError, match="damaged"):
        home.passwords()


def test_only_one_launcher_holds_the_lock(tmp_path: Path) -> None:
    home = Home(tmp_path).create()
    first = lock(home)
    assert first is not None
    assert lock(home) is None
    first.close()
    second = lock(home)
    assert second is not None
    second.close()


def test_a_full_disk_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_MIN_FREE_BYTES", str(10**18))
    with pytest.raises(OpsError, match="free some space"):
        Home(tmp_path).check_space()


def test_addresses_for_people_and_for_health_checks() -> None:
    assert Address("127.0.0.1", 8000, False, "").url == "http://127.0.0.1:8000"
    everywhere = Address("0.0.0.0", 8000, True, "")
    assert everywhere.local == "https://127.0.0.1:8000"
    assert "0.0.0.0" not in everywhere.url
    assert Address("::", 80, False, "").local == "http://[::1]:80"
    public = Address("0.0.0.0", 8000, False, "https://podium.example.org/")
    assert public.url == "https://podium.example.org"
    assert "podium.example.org" in public.names


def test_the_certificate_covers_its_names_and_is_kept(tmp_path: Path) -> None:
    names = ["127.0.0.1", "localhost", "podium.example.org"]
    certificate, key = tls.certificate(tmp_path / "tls", names)
    first = certificate.read_bytes()
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert tls.certificate(tmp_path / "tls", names)[0].read_bytes() == first
    assert tls.certificate(tmp_path / "tls", [*names, "other.example.org"])[0].read_bytes() != first


def test_a_log_is_followed_in_whole_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "web.log"
    log.write_text("old\n")
    tail = LogTail({"web": log})
    with log.open("a") as file:
        file.write("new\nhal")
    tail.show()
    assert capsys.readouterr().out == "web      new\n"
    with log.open("a") as file:
        file.write("f\n")
    tail.show()
    assert capsys.readouterr().out == "web      half\n"
    log.write_text("")
    tail.show()
    log.write_text("after\n")
    tail.show()
    assert capsys.readouterr().out == "web      after\n"


def test_the_last_lines_of_a_long_log(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("".join(f"line {number} {'x' * 200}\n" for number in range(1000)))
    assert [line.split()[1] for line in last_lines(log, 3)] == ["997", "998", "999"]
    assert last_lines(tmp_path / "none.log", 3) == []


@pytest.mark.parametrize(
    ("output", "summary"),
    [
        ("...\n12 passed, 1 skipped in 3.21s\n", "12 passed, 1 skipped in 3.21s"),
        ("\x1b[32m===== 3 failed, 2 passed in 1.00s =====\x1b[0m", "3 failed, 2 passed in 1.00s"),
        (" Test Files  3 passed (3)\n      Tests  9 passed (9)\n", "Tests  9 passed (9)"),
        ("All checks passed!", ""),
    ],
)
def test_the_summary_of_a_stage(output: str, summary: str) -> None:
    assert Outcome(True, output).summary == summary
