"""What more than one surface reads; a function in a module's READS is a route, and answers without a server too."""
