"""Reading records and auditing them."""
