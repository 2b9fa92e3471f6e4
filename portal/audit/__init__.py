"""The audit log: who did what to what, from where, on behalf of whom, before and after. Nobody edits it."""
