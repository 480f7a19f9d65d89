"""Where an agent works: its checkout, sandbox, process, logs and setup."""
