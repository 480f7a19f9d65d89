"""What more than one surface reads: agents, channels, preflights, job lines and stories, logs, the audit."""
