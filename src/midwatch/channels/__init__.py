"""How the person is reached: the log, and whatever Apprise knows."""
