"""Claude Code, led by hand over its pipes: every tool call is decided by us before it runs."""
