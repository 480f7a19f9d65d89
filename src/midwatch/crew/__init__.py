"""Who does the work: drivers of real agents, and the housekeeper who needs no model."""
