"""Codex, run over its app server: Midwatch decides every command and every file change before it happens."""
