"""The jail: hostile input is only ever read in a child process that can reach nothing and is killed at its limits.

This package knows neither Django nor Celery. `parent` starts and watches a child, `child` is that child.
"""
