"""The names of agents' secrets; imports nothing, because the command line needs it too."""

COMMANDS = "-command"
"""The suffix of secrets that a command prints: those are in the file, and a stored value would override it."""
