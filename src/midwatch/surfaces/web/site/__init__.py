"""The application around the pages: access, login, templates, text made harmless."""
