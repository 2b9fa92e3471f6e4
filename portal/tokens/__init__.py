"""API tokens: shown once, stored as keyed hashes, scoped to an organization, expiring, revocable."""
