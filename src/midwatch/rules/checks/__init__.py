"""What check results prove, and how cheating is detected."""
