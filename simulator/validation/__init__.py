"""Published measurements beside what the engine predicts for them. Nothing of the engine imports this package."""
