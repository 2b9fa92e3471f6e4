"""The launcher and its supervisor: what `./podium` runs. No business code, and no Django at import time."""
