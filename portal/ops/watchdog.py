"""Waits until the launcher is gone and ends what it left. It covers what the kernel's parent-death signal does not:
other systems than Linux, and grandchildren.

    python -m portal.ops.watchdog READ_END PODIUM_HOME
"""

import os
import signal
import sys
from pathlib import Path

from portal.ops.home import Home
from portal.ops.state import read, recover


def main(read_end: int, home: Home) -> None:
    """Block on the pipe, whose write end only the launcher holds: the end of file is the launcher's end."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(read_end, 1):
        pass
    state = read(home)
    if state is not None and not state.launcher.alive():
        recover(home)


if __name__ == "__main__":
    main(int(sys.argv[1]), Home(Path(sys.argv[2])))
