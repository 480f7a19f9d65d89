"""Keeps secrets out of everything that is written, shown or sent."""
