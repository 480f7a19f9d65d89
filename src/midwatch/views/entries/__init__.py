"""Journal entries in words: what happened, why, and in which order."""
