"""One module per page, and the parts of the larger ones."""
