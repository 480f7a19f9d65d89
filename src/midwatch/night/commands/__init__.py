"""What a person tells the night to do."""
