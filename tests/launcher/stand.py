"""A launcher with two plain services, for tests that kill it: python -m tests.launcher.stand PODIUM_HOME."""

import os
import signal
import sys
import time
from pathlib import Path

from portal.ops.home import Home, lock
from portal.ops.supervisor import Service, Supervisor

# A parent with a child in the same group, as a Celery worker has; the child ignores SIGTERM, as a stuck job would.
PARENT = """
import subprocess, sys, time
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", stubborn])
time.sleep(600)
"""


def main(home: Home) -> None:
    held = lock(home)
    assert held is not None
    supervisor = Supervisor(home, {"url": "http://nowhere"})
    signal.signal(signal.SIGTERM, lambda *_: setattr(supervisor, "stopping", True))
    for name in ("first", "second"):
        supervisor.start(Service(name, [sys.executable, "-c", PARENT], dict(os.environ), stop_grace=0.5))
    while not supervisor.stopping:
        supervisor.tend()
        time.sleep(0.05)
    supervisor.stop()


if __name__ == "__main__":
    main(Home(Path(sys.argv[1])).create())
