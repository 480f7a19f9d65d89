"""Verbs about this installation: server, doctor, agents, channels, people, settings, demo."""
