"""One compressed night on a sample repository."""
