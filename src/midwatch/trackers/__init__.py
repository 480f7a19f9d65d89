"""Issue trackers. Empty so far."""
