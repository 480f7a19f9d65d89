"""Where the server listens; light, because every command line reads it."""

SOCKET = "midwatch.sock"
LONGEST_SOCKET_PATH = 107
"""The kernel's limit; a longer path fails with a riddle, so we say it in plain words first."""
