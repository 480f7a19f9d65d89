"""Builds Midwatch from its parts: the one package that imports every other and picks each port's implementation."""
