"""Old checkouts, folders and the machine itself."""
