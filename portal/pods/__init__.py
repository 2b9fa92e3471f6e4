"""The inventory: systems that the simulator knows, their prices, the pods that people share, and who occupies which IPUs when."""
