"""Celery glue: takes an id, runs the simulator in a jailed child process, reports through the portal's verbs.

Importing this package imports nothing else: the jailed child starts here too, and must not meet Django or Celery.
"""
