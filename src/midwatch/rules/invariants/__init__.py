"""What must hold for every journal and its records."""
