"""Verbs of the morning: the brief, the review, stacks, replay."""
