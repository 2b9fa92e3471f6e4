"""Questions of the form "what if": another setting or constant, answered from traces and plans that are kept."""
