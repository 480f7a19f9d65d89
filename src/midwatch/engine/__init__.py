"""The work engine: a durable queue, leases, clocks. State is never read from it."""
