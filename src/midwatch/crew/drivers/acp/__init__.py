"""Any agent that speaks the Agent Client Protocol; what it asks about is decided by us, what it does not ask is not."""
