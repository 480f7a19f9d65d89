"""The agents: drivers of agent programs, and the housekeeper, which needs no model."""
