"""Slices: IPUs of a pod for a time window, paid by wall-clock IPU time. The database refuses those that overlap."""
