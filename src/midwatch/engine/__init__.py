"""The work engine: the DBOS adapter, leases, clocks. Nobody else knows DBOS, and nobody reads state from it."""
