"""What people are asked and told, and who may log in."""
