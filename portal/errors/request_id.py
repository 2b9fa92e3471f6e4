"""The id of the request being answered, so that an error, a log line and a response header name the same one."""

from contextvars import ContextVar

_request_id: ContextVar[str] = ContextVar("podium_request_id", default="-")

current_request_id = _request_id.get
set_request_id = _request_id.set
