"""The walls: one command in one clone, with nothing else of this machine in reach."""
