"""Client of Podium's public API: `Client` for programs, `podium` for shells. Knows nothing of the server's insides."""

from podium_client.client import Client
from podium_client.errors import ConnectionLost, PodiumError, WaitTimeout
from podium_client.types import Event, Job, Model, Reservation, System

__all__ = ["Client", "ConnectionLost", "Event", "Job", "Model", "PodiumError", "Reservation", "System", "WaitTimeout"]
