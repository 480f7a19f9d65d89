"""How the person is reached. Tonight: the log."""
