"""The work engine: the DBOS adapter, leases, clocks. Only this package imports DBOS; state is never read from it."""
