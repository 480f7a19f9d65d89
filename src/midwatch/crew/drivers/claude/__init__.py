"""Claude Code, run over its pipes: Midwatch decides every tool call before it runs."""
