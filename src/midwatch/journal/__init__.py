"""What happened: entries, events and the work that follows them."""
