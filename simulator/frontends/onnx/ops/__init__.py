"""Operators by family. Each is a small function ``(call, *inputs)``; omitted inputs are None or not given."""
