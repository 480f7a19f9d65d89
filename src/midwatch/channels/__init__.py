"""How the person is notified: the log, and the services Apprise supports."""
