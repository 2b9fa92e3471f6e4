"""Slices: IPUs of a pod for a time window, paid by wall-clock IPU time. Whether they overlap is the database's to say."""
