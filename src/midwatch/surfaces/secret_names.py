"""What the secrets of agents are called; loads nothing, because the command line needs it too."""

COMMANDS = "-command"
"""Ends the names of secrets that a command prints: those stand in the file, and what is stored would overrule it."""
