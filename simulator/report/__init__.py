"""The versioned Report: what a simulation says, checked for conservation before it leaves, and its wording as text."""
