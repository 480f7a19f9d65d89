"""What a failure means and what to do next."""
