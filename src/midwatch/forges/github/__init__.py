"""GitHub, and GitHub Enterprise: pull requests by REST, branches by git."""
