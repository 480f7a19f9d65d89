"""One running agent: its task, its signals, its tool calls."""
