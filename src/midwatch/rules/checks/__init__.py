"""What check results prove, and how to tell a cheat."""
