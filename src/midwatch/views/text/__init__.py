"""Text made safe, short and readable."""
