"""The walls: one command in one clone, without access to the rest of this machine."""
