#!/usr/bin/env python3
"""Django's entry. `./podium manage ...` runs it in the environment of the running stack; it decides nothing."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
