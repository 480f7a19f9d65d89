"""Which tool calls of an agent may run."""
