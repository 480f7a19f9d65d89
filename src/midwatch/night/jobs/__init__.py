"""One job, from its mirror to its pull request."""
