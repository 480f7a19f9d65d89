"""What the order, the project and earlier pull requests let the housekeeper touch."""
