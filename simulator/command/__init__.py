"""What every command line of the simulator shares: options of settings, files of settings, refusals and exit codes."""
