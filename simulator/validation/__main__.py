"""``python -m simulator.validation``: the error table. See ``command``."""

import sys

from simulator.validation.command import main

if __name__ == "__main__":
    sys.exit(main())
