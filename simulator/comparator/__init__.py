"""The GPU one would pick instead: a documented roofline with achieved fractions, never a tile of it."""
