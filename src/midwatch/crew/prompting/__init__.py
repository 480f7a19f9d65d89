"""What agents are told: templates in files, each with its version, filled with facts; strangers' text is fenced."""
