"""The jailed child: a fresh interpreter that confines itself, says how far it came, does one verb and ends.

Started by `process.start`, never by hand. It holds no secrets: its environment is made from nothing, and of the
worker's open files it inherits the two ends of the conversation.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from pathlib import Path
from typing import Any

from workers.jail import confine, frames
from workers.jail.limits import Limits


class Conversation:
    """The child's side: messages out, a request to stop in. The end of the inward stream is the death of the parent."""

    def __init__(self, inward: int, outward: int) -> None:
        self._inward, self._outward = inward, outward
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def emit(self, kind: str, data: dict[str, Any]) -> None:
        """One event of the verb."""
        self.say({"say": "event", "kind": kind, "data": data})

    def say(self, message: dict[str, Any]) -> None:
        with self._lock:
            frames.write(self._outward, message)

    def should_stop(self) -> bool:
        """True once the parent has asked for an orderly end."""
        return self._stop.is_set()

    def listen(self) -> None:
        """Follow the parent on a thread of our own."""
        threading.Thread(target=self._follow, daemon=True, name="parent").start()

    def _follow(self) -> None:
        while True:
            message = frames.read(self._inward)
            if message is None:
                os._exit(70)
            if message.get("say") == "stop":
                self._stop.set()


def main(parent: int, inward: int, outward: int, module: str) -> None:
    """Load what is trusted, wait for an order, confine, do it, answer. Does not return."""
    confine.die_with(parent)
    conversation = Conversation(inward, outward)
    try:
        verbs = importlib.import_module(module)
        verbs.warm()
        confine.be_named("podium-spare")  # from here on it waits
        order = frames.read(inward)
        if order is None:
            os._exit(70)
        given = _enter(order, parent, conversation)
        answer = {"say": "result", "value": getattr(verbs, order["verb"])(conversation, **order["arguments"], **given)}
    except MemoryError:
        answer = {"say": "killed", "reason": "memory"}
    except Exception as error:
        answer = _explain(error)
    conversation.say(answer)
    os._exit(0)


def _enter(order: dict[str, Any], parent: int, conversation: Conversation) -> dict[str, str]:
    """Open the files, go behind the walls, say how many stand. Returns the paths to read the files by."""
    limits = Limits(**order["limits"])
    opened = {key: os.open(path, os.O_RDONLY | os.O_NOFOLLOW) for key, path in order["files"].items()}
    os.chdir(order["scratch"])
    os.nice(order["niceness"])
    code = [Path(folder) for folder in order["code"]]
    reached = {"landlock": confine.see_only(code=code, scratch=Path("."), descriptors=opened.values())}
    user = order["user"]
    confine.limit(limits, own_user=user is not None)
    if user is not None:
        confine.become(user, parent, keep_reading=reached["landlock"])
    reached["uid"] = user is not None
    confine.be_named("podium-jail")
    reached["seccomp"] = confine.filter_calls()
    level = "+".join(name for name in ("uid", "seccomp", "landlock") if reached[name]) or "process"
    conversation.say({"say": "ready", "isolation": level})
    conversation.listen()
    return {key: f"/dev/fd/{number}" for key, number in opened.items()}


def _explain(error: Exception) -> dict[str, Any]:
    """A refusal if the simulator meant it as one; else a crash with its trace on stderr, for the operator alone."""
    if hasattr(error, "code") and hasattr(error, "owner"):
        return {
            "say": "refused", "code": error.code, "message": str(error), "owner": error.owner,
            "params": getattr(error, "params", {}),
        }  # fmt: skip
    sys.excepthook(type(error), error, error.__traceback__)
    return {"say": "killed", "reason": "crash"}
