"""The client for programs: one method for one thing the API can do. Printing and exit codes are the command line's."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from podium_client.errors import BAD_INPUT, PodiumError
from podium_client.live import follow, poll_until
from podium_client.settings import load_settings
from podium_client.transport import Transport
from podium_client.types import Event, Job, Model, Reservation, System
from podium_client.uploads import Progress, sha256_of, upload_file


class Client:
    """Speaks to one Podium server. Without arguments: PODIUM_URL and PODIUM_TOKEN, then what `podium login` stored.

    Every method raises `PodiumError` for a refusal and `ConnectionLost` when the server does not answer.
    """

    def __init__(self, *, url: str | None = None, token: str | None = None, timeout: float = 60.0) -> None:
        settings = load_settings(url=url, token=token)
        self.url = settings.url
        self._transport = Transport(settings.url, settings.token, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def session(self) -> dict[str, Any]:
        """Whom the token speaks for: `{"user", "organizations", ...}`; `user` is None without a valid token."""
        return cast(dict[str, Any], self._transport.get("session"))

    def systems(self) -> list[System]:
        return cast(list[System], self._transport.get("systems"))

    def models(self, *, project_id: str | None = None, sha256: str | None = None) -> Iterator[Model]:
        for row in self._transport.pages("models", project_id=project_id, sha256=sha256):
            if sha256 in (None, row["sha256"]):
                yield cast(Model, row)

    def model(self, model_id: str) -> Model:
        return cast(Model, self._transport.get(f"models/{model_id}"))

    def upload(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        project_id: str | None = None,
        on_progress: Progress | None = None,
    ) -> Model:
        """Send a model file, or find it among the accepted ones by its SHA-256. See `wait_for_model` for the outcome.

        `on_progress(sent_bytes, all_bytes)` is called after each part.
        """
        file = Path(path)
        if not file.is_file():
            raise PodiumError("file.not_found", f"There is no file {file}.", exit_code=BAD_INPUT)
        sha256 = sha256_of(file)
        for known in self.models(project_id=project_id, sha256=sha256):
            if known["state"] != "refused":  # a refused one is looked at again, for the engine may be newer
                return known
        return upload_file(
            self._transport,
            file,
            name=name or file.name,
            sha256=sha256,
            project_id=project_id,
            on_progress=on_progress,
        )

    def wait_for_model(self, model_id: str, *, timeout: float | None = None) -> Model:
        """The model once it is accepted. A refused one raises `PodiumError` with the refusal's code and advice."""
        deadline = None if timeout is None else time.monotonic() + timeout
        model = cast(
            Model,
            poll_until(
                lambda: self.model(model_id),
                lambda row: row["state"] != "inspecting",
                deadline=deadline,
                what="The inspection of the model",
            ),
        )
        if model["state"] == "refused":
            refusal = model["refusal"] or {}
            raise PodiumError(
                refusal.get("code", "model.refused"),
                refusal.get("detail", "The model was refused."),
                params=refusal.get("params"),
                exit_code=BAD_INPUT,
            )
        return model

    def reservation(self, reservation_id: str) -> Reservation:
        return cast(Reservation, self._transport.get(f"reservations/{reservation_id}"))

    def submit(
        self,
        model: str,
        config: Mapping[str, Any],
        *,
        name: str | None = None,
        reservation_id: str | None = None,
        suite: str | None = None,
        project_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """Launch a job. `model` is a model's id or a `zoo:` name; `config` as in the API's RunConfig.

        `suite` is consent to publish the result on that leaderboard. One key launches one job only.
        """
        optional = {"name": name, "reservation_id": reservation_id, "suite": suite, "project_id": project_id}
        body = {"model": model, "config": dict(config)} | {key: value for key, value in optional.items() if value}
        return cast(Job, self._transport.post("jobs", body, idempotency_key=idempotency_key or str(uuid.uuid4())))

    def jobs(self, *, state: str | None = None, project_id: str | None = None) -> Iterator[Job]:
        """Jobs, newest first."""
        for row in self._transport.pages("jobs", state=state, project_id=project_id):
            yield cast(Job, row)

    def job(self, job_id: str) -> Job:
        return cast(Job, self._transport.get(f"jobs/{job_id}"))

    def cancel(self, job_id: str) -> Job:
        return cast(Job, self._transport.post(f"jobs/{job_id}/cancel", idempotency_key=str(uuid.uuid4())))

    def report(self, job_id: str) -> dict[str, Any]:
        """The simulator's report; `report.not_ready` before it exists."""
        return cast(dict[str, Any], self._transport.get(f"jobs/{job_id}/report"))

    def follow(self, job_id: str, *, after: int = 0, timeout: float | None = None) -> Iterator[Event]:
        """Events from the stored past into the live present, each once and in order, until the job has ended.

        Raises `WaitTimeout` after `timeout` seconds; the job goes on.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        return follow(self._transport, job_id, after=after, deadline=deadline)

    def wait(
        self, job_id: str, *, timeout: float | None = None, on_event: Callable[[Event], None] | None = None
    ) -> Job:
        """Follow the job to its end and return it."""
        for event in self.follow(job_id, timeout=timeout):
            if on_event is not None:
                on_event(event)
        return self.job(job_id)
