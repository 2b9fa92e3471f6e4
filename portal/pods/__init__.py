"""The inventory: systems the simulator knows, their prices, the pods people share, and which IPUs are taken when."""
