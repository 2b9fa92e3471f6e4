"""What workers do, one module a task: it takes one id, calls the jail, and reports through the portal's verbs."""
