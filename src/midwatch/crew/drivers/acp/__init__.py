"""Any agent that uses the Agent Client Protocol; Midwatch decides only the calls it asks about."""
