"""How one graph is laid over the IPUs of a slice: replicas today; what each must exchange with the others."""
