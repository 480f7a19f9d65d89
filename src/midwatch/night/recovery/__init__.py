"""What follows failures, waits and restarts."""
