"""The brief's limits, scores, merge order and drift."""
