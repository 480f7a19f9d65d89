"""Where the server listens; light, because every command line reads it."""

SOCKET = "midwatch.sock"
FIRST_LOGIN = "Make your login: midwatch person link --role owner"
"""Printed instead of a link where there is no terminal: a reader of a link in a log becomes the owner."""
PORT_TAKEN = "Port {taken} is taken by another program, so the pages are at {pages} instead."
LONGEST_SOCKET_PATH = 107
"""The kernel's limit on a socket's path; Midwatch checks it first, because the kernel's error is unclear."""
