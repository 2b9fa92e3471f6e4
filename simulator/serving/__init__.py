"""Load in virtual time on simulated service times: single stream, multi stream, server, offline. No wall clock."""
