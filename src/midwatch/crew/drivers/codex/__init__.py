"""Codex, led over its app server: every command and every change of a file is decided by us before it happens."""
