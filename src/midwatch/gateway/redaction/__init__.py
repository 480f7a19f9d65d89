"""Keeps secrets out of whatever is written, shown or sent."""
