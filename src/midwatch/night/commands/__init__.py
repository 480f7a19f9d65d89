"""Commands that a person gives to the night."""
