"""How people and programs reach Midwatch: the command line, the API and the pages."""
