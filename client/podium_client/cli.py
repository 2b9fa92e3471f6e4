"""The command `podium`: reads arguments, calls the client, prints, and ends with an exit code for pipelines."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from podium_client import errors
from podium_client.client import Client
from podium_client.device import log_in
from podium_client.errors import PodiumError
from podium_client.printing import clean, job_lines, report_lines, say, table
from podium_client.run import run
from podium_client.settings import Settings, load_settings, save_settings
from podium_client.transport import Transport

Outcome = tuple[Any, list[str], int]  # the JSON object, lines for people, exit code
EXIT_CODES = """exit codes: 0 succeeded, 1 job failed, 2 bad input, 3 does not fit, 5 platform fault or time-out,
6 not allowed or out of credit, 130 interrupted. PODIUM_URL and PODIUM_TOKEN win over `podium login`."""


class UsageError(PodiumError):
    """Arguments that make no sense; told like any other fault, so that --json stays JSON."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError("usage", f"{message}. See `{self.prog} --help`.", exit_code=errors.BAD_INPUT)


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    try:
        options = parser().parse_args(given)
        as_json = options.json
        body, lines, code = options.command(options)
    except PodiumError as error:
        return _told(error, as_json)
    except KeyboardInterrupt:
        return _told(PodiumError("interrupted", "Interrupted.", exit_code=errors.INTERRUPTED), as_json)
    except OSError as error:
        return _told(PodiumError("file.unreadable", str(error), exit_code=errors.BAD_INPUT), as_json)
    except Exception as error:  # an unforeseen fault must not look like a failed job, whose exit code is 1
        text = f"The client failed: {type(error).__name__}: {error}"
        return _told(PodiumError("internal", text, exit_code=errors.PLATFORM), as_json)
    print(json.dumps(body) if as_json else "\n".join(lines))
    return int(code)


def _told(error: PodiumError, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"exit_code": error.exit_code, "error": error.to_dict()}))
    say(f"podium: {error.message} [{error.code}]")
    for field in error.fields:
        say(f"  {field.get('field')}: {field.get('detail')}")
    return error.exit_code


def parser() -> Parser:
    """Every command with its options. Built whole, so that `--help` tells everything."""
    common = Parser(add_help=False)
    common.add_argument("--url", help="address of the server")
    common.add_argument("--json", action="store_true", help="one JSON object alone on stdout")
    top = Parser(prog="podium", description="Run models on simulated IPU systems.", epilog=EXIT_CODES)
    commands = top.add_subparsers(dest="name_of_command", required=True, metavar="command")

    def command(name: str, function: Callable[[argparse.Namespace], Outcome], words: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, parents=[common], help=words, description=words, epilog=EXIT_CODES)
        added.set_defaults(command=function)
        return added

    login = command("login", _login, "log in by a browser, or with a token, and store it for later commands")
    login.add_argument("--token", help="pod_..., or - to read it from stdin; without it a browser is asked")
    _run_options(command("run", _run, "upload a model, launch a job and, with --wait, follow it to its end"))
    jobs = command("jobs", _jobs, "list jobs, newest first")
    jobs.add_argument("--state", help="only jobs in this state")
    jobs.add_argument("--limit", type=_positive, default=20, metavar="N")
    for name, function, words in (
        ("job", _job, "show one job"),
        ("cancel", _cancel, "stop a job"),
        ("report", _report, "show the simulator's report of a job"),
    ):
        command(name, function, words).add_argument("id", metavar="ID")
    command("models", _models, "list uploaded models")
    command("systems", _systems, "list the systems that can be simulated")
    command("whoami", _whoami, "show whom the token speaks for")
    return top


def _run_options(added: argparse.ArgumentParser) -> None:
    added.add_argument("model", help="an ONNX file, or a model of the zoo such as zoo:mnist")
    task = added.add_mutually_exclusive_group(required=True)
    task.add_argument("--train", dest="task", action="store_const", const="train")
    task.add_argument("--infer", dest="task", action="store_const", const="infer")
    added.add_argument("--system", help="m2000, pod4, pod16, pod64, pod128, pod256, or ipus:N")
    added.add_argument("--ipus", type=_positive, metavar="N", help="IPUs of that system; all when left out")
    added.add_argument("--reservation", metavar="ID", help="run on this reserved slice")
    added.add_argument("--dataset", help="digits or synthetic")
    added.add_argument("--batch", type=_positive, metavar="N", help="micro-batch of one replica")
    added.add_argument("--steps", type=_positive, metavar="N", help="training steps, or batches to infer")
    added.add_argument("--optimiser", "--optimizer", help="sgd, momentum, adam, adamw or lamb")
    added.add_argument("--learning-rate", type=_number)
    added.add_argument("--precision", help="fp16 or fp32")
    added.add_argument("--seed", type=int, metavar="N")
    added.add_argument("--dim", type=_dim, action="append", metavar="NAME=N", help="size of a symbolic dimension")
    added.add_argument("--suite", metavar="SLUG", help="publish the result on this leaderboard")
    added.add_argument("--project", metavar="ID", help="project to run in; your token's own when left out")
    added.add_argument("--name", help="a name for the job")
    added.add_argument("--wait", action="store_true", help="stream the log and end with the job")
    added.add_argument("--timeout", type=_seconds, metavar="S", help="give up waiting after S seconds (exit 5)")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not a finite number")
    return value


def _seconds(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0 seconds")
    return value


def _dim(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdigit() or int(size) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N, such as batch=1")
    return name, int(size)


def _login(options: argparse.Namespace) -> Outcome:
    url = load_settings(url=options.url).url
    if options.token is None:
        token = log_in(Transport(url, ""), say)
    else:
        token = sys.stdin.readline().strip() if options.token == "-" else options.token  # noqa: S105 - no secret
    settings = Settings(url=url, token=token)
    with Client(url=settings.url, token=token) as client:
        session = client.session()
    if session.get("user") is None:
        raise PodiumError("token.invalid", "The server does not know this token. Make a new one.", status=401)
    path = save_settings(settings)
    told = clean(f"Logged in to {settings.url} as {session['user']['email']} ({path}).")
    return {"url": settings.url, "user": session["user"]}, [told], errors.OK


def _run(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        job, code = run(client, options)
    return {"exit_code": code, "job": job}, job_lines(job), code


def _jobs(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        rows = [row for row, _ in zip(client.jobs(state=options.state), range(options.limit), strict=False)]
    cells = [(row["id"], row["number"], row["name"], row["task"], row["system"], row["state"]) for row in rows]
    return {"results": rows}, [table(("id", "number", "name", "task", "system", "state"), cells)], errors.OK


def _job(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        job = client.job(options.id)
    return job, job_lines(job), errors.OK


def _cancel(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        job = client.cancel(options.id)
    return job, job_lines(job), errors.OK


def _report(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        report = client.report(options.id)
    return report, report_lines(report), errors.OK


def _models(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        rows = list(client.models())
    cells = [(row["id"], row["name"], row["bytes"], row["state"], row["created_at"]) for row in rows]
    return {"results": rows}, [table(("id", "name", "bytes", "state", "created"), cells)], errors.OK


def _systems(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        rows = client.systems()
    cells = [
        (row["id"], row["name"], row["chip"], row["ipus"], ", ".join(str(size) for size in row["allowed_sizes"]))
        for row in rows
    ]
    return {"results": rows}, [table(("id", "name", "chip", "IPUs", "slice sizes"), cells)], errors.OK


def _whoami(options: argparse.Namespace) -> Outcome:
    with _client(options) as client:
        session = client.session()
    if session.get("user") is None:
        raise PodiumError("not_logged_in", "No valid token. Run `podium login`.", status=401)
    lines = [f"{session['user']['email']} at {client.url}"]
    lines += [
        f"{row['name']} ({row['role']}): {row['balance_microcredits'] / 1e6:,.2f} credits"
        for row in session["organizations"]
    ]
    return session, [clean(line) for line in lines], errors.OK


def _client(options: argparse.Namespace) -> Client:
    return Client(url=options.url)


if __name__ == "__main__":
    sys.exit(main())
