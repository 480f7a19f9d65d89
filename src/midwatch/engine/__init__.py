"""The work engine: a queue in DBOS's tables, leases, clocks. Only it imports DBOS; state is never read from it."""
