"""Program to Graph. Import ``simulator.graph.graph`` for the data (no JAX), ``simulator.graph.trace`` to make one."""
