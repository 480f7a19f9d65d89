"""What happened: entries, events, and the port through which they are written and read."""
