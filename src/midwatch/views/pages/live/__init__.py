"""What the Live page shows: the night, its jobs, its picture, and what waits for a person."""
