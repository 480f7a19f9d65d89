"""The evening: projects, goals, work, and the orders that are agreed and signed."""
