"""How fast, always beside the natural limit of the same machine in the same minute."""
