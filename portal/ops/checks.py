"""`./podium test` and `./podium lint`: which checks there are and in which order. How one is run is in stages.py."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from portal.ops import browser, environment, frontend, stages
from portal.ops.console import coloured, say
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT, Home
from portal.ops.stages import Outcome, run

SCRIPTS = Path(sys.executable).parent
FRONTEND = CHECKOUT / "frontend"


@dataclass(frozen=True)
class Stage:
    """One check: its name on the command line, and what does it."""

    name: str
    about: str
    check: Callable[[], Outcome]


def lint() -> int:
    """Every check that needs no server."""
    return _report([_timed(stage) for stage in _static_stages()])


def test(options: argparse.Namespace) -> int:
    """Every check and test; or those named by --only; or the slow suite alone."""
    every = _slow_stages() if options.slow else [*_static_stages(), *_running_stages()]
    known = {stage.name for stage in every}
    unknown = set(options.only) - known
    if unknown:
        raise OpsError(
            "test.unknown_stage",
            f"There is no stage {', '.join(sorted(unknown))}: choose from {', '.join(sorted(known))}.",
        )
    if options.pytest:
        return stages.stream([*_pytest(), *options.pytest])
    chosen = [stage for stage in every if not options.only or stage.name in options.only]
    return _report([_timed(stage) for stage in chosen])


def _static_stages() -> list[Stage]:
    return [
        Stage("ruff", "Python style and errors", lambda: run([_script("ruff"), "check", "."])),
        Stage("format", "Python format", lambda: run([_script("ruff"), "format", "--check", "."])),
        Stage("mypy", "Python types", lambda: run([_script("mypy")], environment=_bare())),
        Stage(
            "contracts",
            "which package may import which",
            lambda: run([_script("lint-imports")], environment=_bare() | {"PYTHONPATH": "client"}),
        ),
        Stage("migrations", "migrations agree with the tables", _migrations),
        Stage("packages", "the front end's packages", _packages),
        Stage("api", "API schema and TypeScript types agree with the code", _api_drift),
        Stage("eslint", "TypeScript style", lambda: _npm("run", "lint")),
        Stage("tsc", "TypeScript types", lambda: _npm("exec", "--no", "tsc", "--", "--noEmit")),
    ]


QUICK = "not e2e and not slow"


def _running_stages() -> list[Stage]:
    return [
        Stage("vitest", "front-end tests", lambda: _npm("test")),
        Stage("build", "the front end as it is served", _build),
        # the simulator's tests share nothing, so each core takes some; the others share a database and processes
        Stage(
            "simulator",
            "the engine and its command line",
            lambda: run([*_pytest(), "-n", "auto", "--maxprocesses", "4", "-m", QUICK, "tests/simulator"]),
        ),
        Stage(
            "pytest",
            "portal, workers, client and launcher",
            lambda: run([*_pytest(), "-m", QUICK, "--ignore=tests/simulator"]),
        ),
        Stage("e2e", "the whole path in a browser", _whole_path),
    ]


def _slow_stages() -> list[Stage]:
    return [
        Stage("slow", "comparisons that take minutes", lambda: run([*_pytest(), "-m", "slow", "--timeout", "1800"]))
    ]


def _timed(stage: Stage) -> tuple[Stage, Outcome, float]:
    say(f"· {stage.name}: {stage.about} ...")
    began = time.monotonic()
    try:
        outcome = stage.check()
    except OpsError as error:
        outcome = Outcome(False, str(error))
    seconds = time.monotonic() - began
    if not outcome.passed:
        say(outcome.output)
    word = coloured("passed", 32) if outcome.passed else coloured("FAILED", 31)
    say(f"  {stage.name}: {word} in {seconds:.1f} s{f'  ({outcome.summary})' if outcome.summary else ''}")
    return stage, outcome, seconds


def _report(results: list[tuple[Stage, Outcome, float]]) -> int:
    say("")
    for stage, outcome, seconds in results:
        say(
            f"{'passed' if outcome.passed else 'FAILED'}  {seconds:7.1f} s  {stage.name:<11} {outcome.summary}".rstrip()
        )
    failed = [stage.name for stage, outcome, _ in results if not outcome.passed]
    total = sum(seconds for _, _, seconds in results)
    say(
        f"{len(results) - len(failed)} of {len(results)} stages passed in {total:.0f} s"
        + (f"; failed: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


def _script(name: str) -> str:
    return str(SCRIPTS / name)


def _pytest() -> list[str]:
    return [sys.executable, "-m", "pytest", "-q"]


def _bare() -> dict[str, str]:
    return environment.bare(Home(Path(tempfile.gettempdir()) / f"podium-checks-{os.getuid()}").create())


def _manage(*arguments: str) -> Outcome:
    return run([sys.executable, "-W", "ignore", "manage.py", *arguments], environment=_bare())


def _migrations() -> Outcome:
    return _manage("makemigrations", "--check", "--dry-run")


def _packages() -> Outcome:
    frontend.install()
    return Outcome(True)


def _build() -> Outcome:
    frontend.build()
    return Outcome(True)


def _npm(*arguments: str) -> Outcome:
    frontend.install()
    return run(["npm", *arguments], folder=FRONTEND, environment=frontend.environment())


def _api_drift() -> Outcome:
    """Make both files anew and compare them with the committed ones."""
    kept_schema, kept_types = FRONTEND / "src/api/openapi.yaml", FRONTEND / "src/api/schema.d.ts"
    with tempfile.TemporaryDirectory() as folder:
        schema, types = Path(folder) / "openapi.yaml", Path(folder) / "schema.d.ts"
        made = _manage("spectacular", "--file", str(schema), "--validate", "--fail-on-warn")
        if not made.passed:
            return made
        if not stages.same(schema, kept_schema):
            return Outcome(False, f"{kept_schema.relative_to(CHECKOUT)} is not what the code says now.\n{REMEDY}")
        made = run(
            ["npx", "--no-install", "openapi-typescript", str(schema), "-o", str(types)],
            folder=FRONTEND,
            environment=frontend.environment(),
        )
        if not made.passed:
            return made
        if not stages.same(types, kept_types):
            return Outcome(False, f"{kept_types.relative_to(CHECKOUT)} is not what the API schema says.\n{REMEDY}")
    return Outcome(True)


REMEDY = (
    "Make both anew and commit them:\n"
    "  ./podium manage spectacular --file frontend/src/api/openapi.yaml && (cd frontend && npm run api)"
)


def _whole_path() -> Outcome:
    """The browser test starts a stack of its own, with the embedded servers whatever DATABASE_URL says."""
    program = browser.find_or_install()
    frontend.build()
    variables = environment.inherited() | {"PODIUM_CHROMIUM": str(program)}
    return run([*_pytest(), "-m", "e2e"], environment=variables)
