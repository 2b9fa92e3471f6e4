"""Runs the management commands that are due, one after the other in one process. database.py decides which.

python -m portal.ops.prepare PODIUM_HOME '[{"name": ..., "title": ..., "command": [...], "stamp": ...}, ...]'
"""

import io
import json
import sys
import traceback
from pathlib import Path

from portal.ops import database, stamps
from portal.ops.console import step
from portal.ops.database import Due
from portal.ops.home import Home, write_private


def main(home: Home, due: list[Due]) -> int:
    """Returns the exit code. The last line on stderr is the reason of a failure."""
    import django
    from django.core.management import call_command

    current = "setup"
    try:
        django.setup()
        for each in due:
            current = each.command[0]
            printed = io.StringIO()
            with step(each.title):
                call_command(*each.command, stdout=printed)
            if each.name == "operator":
                write_private(database.told_once(home), printed.getvalue().strip())
            stamps.write(home.stamps / each.name, each.stamp)
    except Exception as error:
        traceback.print_exc()
        first = (str(error).splitlines() or [""])[0]
        print(f"manage.py {current} failed: {first or type(error).__name__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Home(Path(sys.argv[1])), [Due(**each) for each in json.loads(sys.argv[2])]))
