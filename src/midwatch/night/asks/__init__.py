"""Questions for a person, and what their answers lead to."""
