"""How each agent program is started, spoken with and read."""
