"""Credits: a double-entry ledger in whole micro-credits, with holds that end in captures and refunds."""
