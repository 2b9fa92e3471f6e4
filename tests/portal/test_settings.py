"""Production does not start half configured: each hole ends in a sentence that says what to set."""

import os
import subprocess
import sys

import pytest

GOOD = {
    "PODIUM_ENV": "production",
    "PODIUM_SECRET_KEY": "k" * 50,
    "PODIUM_MAIL": "smtp://mail.example.org:25",
    "PODIUM_URL": "https://podium.example.org",
}
READ = "import django.conf as c; s = c.settings; print(s.SECURE, s.SESSION_COOKIE_NAME, s.DEBUG, s.ALLOWED_HOSTS)"


def start(tmp_path, **changes: str | None) -> subprocess.CompletedProcess:
    given = {**GOOD, "PODIUM_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "portal.settings", **changes}
    environment = {"PATH": os.environ["PATH"], **{name: text for name, text in given.items() if text is not None}}
    return subprocess.run([sys.executable, "-c", READ], env=environment, capture_output=True, text=True)


def test_a_complete_environment_starts_with_secure_cookies(tmp_path):
    done = start(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True __Host-podium_session_https False ")
    assert "podium.example.org" in done.stdout


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"PODIUM_SECRET_KEY": None}, "PODIUM_SECRET_KEY is missing or short"),
        ({"PODIUM_SECRET_KEY": "changeme"}, "PODIUM_SECRET_KEY is missing or short"),
        ({"PODIUM_MAIL": None}, "PODIUM_MAIL is missing"),
        ({"PODIUM_ALLOWED_HOSTS": "*"}, "PODIUM_ALLOWED_HOSTS may not be *"),
        ({"PODIUM_ENV": "prod"}, "PODIUM_ENV is 'prod'"),
        ({"DATABASE_APP_URL": "mysql://x"}, "must be postgresql:// addresses"),
    ],
)
def test_a_hole_ends_it(tmp_path, changes, sentence):
    done = start(tmp_path, **changes)
    assert done.returncode != 0
    assert sentence in done.stderr
