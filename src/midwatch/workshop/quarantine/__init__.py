"""What arrives from an agent, checked before it reaches the mirror."""
