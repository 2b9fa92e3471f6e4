"""The automatic plan: which pipeline, batch, recomputation and memory settings serve a goal best and fit."""
