"""Where the server listens; light, because every command line reads it."""

SOCKET = "midwatch.sock"
LONGEST_SOCKET_PATH = 107
"""The kernel's limit on a socket's path; Midwatch checks it first, because the kernel's error is unclear."""
