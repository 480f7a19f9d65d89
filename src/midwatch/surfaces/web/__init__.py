"""Pages for people: the night on ink, the morning on paper, amber only where somebody is wanted."""
