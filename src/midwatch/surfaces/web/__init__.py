"""Pages for people: the night in dark, the morning in light, amber only where a person is needed."""
