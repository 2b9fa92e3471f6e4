"""The step that is both costed and executed: loss, gradients and optimiser of a Program."""
