"""The same Program executed on the CPU by JAX: real arithmetic, while the clock comes from the simulator."""
