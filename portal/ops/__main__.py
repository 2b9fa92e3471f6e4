"""The commands of ./podium. Each is a function elsewhere; here they are only named, parsed and their errors told."""

import argparse
import os
import signal
import sys

from portal.ops.console import say
from portal.ops.errors import OpsError
from portal.ops.home import home_from_environment


def main(arguments: list[str]) -> int:
    """Run one command. Returns its exit code."""
    home = home_from_environment()
    if arguments[:1] == ["manage"]:
        from portal.ops.lifecycle import manage

        return manage(arguments[1:], home)
    options = _parser().parse_args(arguments)
    match options.command:
        case "drain":
            from portal.ops.lifecycle import manage

            return manage(["drain", *(["--undo"] if options.undo else [])], home)
        case "up":
            from portal.ops.up import up

            return up(options, home)
        case "test" | "lint":
            from portal.ops.checks import lint, test

            return lint() if options.command == "lint" else test(options)
        case _:
            from portal.ops import lifecycle

            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `./podium logs -f | head` ends with head
            if options.command in ("down", "status"):
                return int(getattr(lifecycle, options.command)(home))
            return int(getattr(lifecycle, options.command)(options, home))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./podium", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start everything and show the log")
    up.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 opens it to the local network")
    up.add_argument("--port", type=_port, default=0, help="port of the web server (default 8000, or the last one)")
    up.add_argument("--public-url", type=_url, help="what people type, when it is not this machine's address")
    up.add_argument("--tls", action="store_true", help="serve https with a self-signed certificate")
    up.add_argument(
        "--workers",
        type=_count,
        default=max(2, min(8, os.cpu_count() or 2)),
        help="processes: one is kept for inspections and estimates, each other one runs a job",
    )
    commands.add_parser("down", help="stop everything")
    drain = commands.add_parser("drain", help="let workers save and hand back what they run, and take no more")
    drain.add_argument("--undo", action="store_true", help="let them take jobs again")
    commands.add_parser("status", help="what runs, and where")
    logs = commands.add_parser("logs", help="the last lines of the services")
    logs.add_argument("service", nargs="?", choices=["postgres", "valkey", "web", "worker", "ticker"])
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    logs.add_argument("-n", "--lines", type=int, default=40, help="lines of each service")
    reset = commands.add_parser("reset", help="delete all data")
    reset.add_argument("--yes", action="store_true", help="do not ask")
    test = commands.add_parser("test", help="every check and test")
    test.add_argument("--only", action="append", default=[], metavar="STAGE", help="run these stages only")
    test.add_argument("--slow", action="store_true", help="run the slow suite, and nothing else")
    test.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    commands.add_parser("lint", help="the checks that need no server")
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError("give a number from 1 to 64")
    return int(text)


def _url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError("give it whole, such as https://podium.example.org")
    return text


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OpsError as error:
        say("")
        print(f"podium: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        say("\nStopped.")
        sys.exit(130)
    except OSError as error:
        if error.errno == 28:  # ENOSPC
            print("podium: The disk is full: free some space and run the command again.", file=sys.stderr)
            sys.exit(1)
        raise
