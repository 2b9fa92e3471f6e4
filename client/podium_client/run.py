"""`podium run`: a model file in, a job's outcome out. Steps: upload, inspection, launch, following."""

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from podium_client.client import Client
from podium_client.errors import BAD_INPUT, OK, PodiumError, WaitTimeout, exit_code_of_job
from podium_client.printing import EventPrinter, say
from podium_client.types import Job

CONFIG_OPTIONS = ("ipus", "dataset", "batch", "steps", "optimiser", "learning_rate", "precision", "seed")


def run(client: Client, options: Namespace) -> tuple[Job, int]:
    """Do what the options ask and return the job with the exit code it deserves."""
    deadline = None if options.timeout is None else time.monotonic() + options.timeout
    model = _model(client, options, deadline)
    job = client.submit(
        model,
        config_of(client, options),
        name=options.name,
        reservation_id=options.reservation,
        suite=options.suite,
        project_id=options.project,
    )
    say(f"job {job['id']} launched: {client.url}/jobs/{job['id']}")
    if not options.wait:
        return job, OK
    try:
        job = client.wait(job["id"], timeout=_left(deadline), on_event=EventPrinter())
    except KeyboardInterrupt:
        say(f"The job goes on. To stop it: podium cancel {job['id']}")
        raise
    return job, exit_code_of_job(job)


def config_of(client: Client, options: Namespace) -> dict[str, Any]:
    """The settings that were given; the server fills in the others. A slice names its own system."""
    config: dict[str, Any] = {"task": options.task}
    if options.system:
        config["system"] = options.system
    elif options.reservation:
        config["system"] = client.reservation(options.reservation)["pod"]["system"]
    else:
        raise PodiumError(
            "system.missing", "Say where to run: --system pod4, or --reservation ID.", exit_code=BAD_INPUT
        )
    config |= {name: getattr(options, name) for name in CONFIG_OPTIONS if getattr(options, name) is not None}
    if options.dim:
        config["dims"] = dict(options.dim)
    return config


def _model(client: Client, options: Namespace, deadline: float | None) -> str:
    if options.model.startswith("zoo:"):
        return str(options.model)
    path = Path(options.model)
    model = client.upload(path, project_id=options.project, on_progress=_said_progress(path))
    if model["state"] == "inspecting":
        say("inspecting the model")
        model = client.wait_for_model(model["id"], timeout=_left(deadline))
    say(f"model {model['id']} accepted")
    return model["id"]


def _said_progress(path: Path) -> Any:
    def progress(sent: int, size: int) -> None:
        say(f"uploading {path.name}: {sent:,} of {size:,} bytes")

    return progress


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise WaitTimeout("The time given with --timeout is over.")
    return left
