"""Tables, columns, engines and migrations."""
