"""A job's request to a model: what it may ask for, what it can cost at most, and how it is rewritten."""
