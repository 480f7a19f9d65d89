"""What each page shows, as values."""
