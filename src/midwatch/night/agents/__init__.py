"""One agent at work: what it is given, what it says, what it may do."""
