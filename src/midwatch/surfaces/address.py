"""Where the server listens; light, because every command line reads it."""

SOCKET = "midwatch.sock"
FIRST_LOGIN = "Make your login: midwatch person link --role owner"
"""Said instead of a link where no terminal is: whoever reads a link in a log becomes the owner."""
LONGEST_SOCKET_PATH = 107
"""The kernel's limit on a socket's path; Midwatch checks it first, because the kernel's error is unclear."""
