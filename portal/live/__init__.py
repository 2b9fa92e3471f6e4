"""Live pages: the one socket, and the hub that reads new rows once and fans them out.

Apps register topics and give hints.
"""

from portal.live.hints import hint
from portal.live.topics import Topic, register_topic

__all__ = ["Topic", "hint", "register_topic"]
