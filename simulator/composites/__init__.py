"""Operators kept whole in the trace: one file each with numbers and derivative; ``catalogue`` says their cost."""
