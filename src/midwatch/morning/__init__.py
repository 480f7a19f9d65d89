"""The morning: the brief, the review, the scores."""
