"""The command line: a thin client of the server, quick to start."""
