"""How notices reach the person."""
