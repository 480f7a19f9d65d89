"""Brains propose acts: models, command lines, and our own rules. A brain never acts itself."""
