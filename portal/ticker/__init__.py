"""The ticker: one process that looks for rows that are due and calls the verbs for them. It decides nothing itself."""
