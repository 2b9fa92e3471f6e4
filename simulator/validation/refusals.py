"""Why a row has no prediction."""


class NotModelled(Exception):
    """A row that has no prediction; its text is the reason."""
