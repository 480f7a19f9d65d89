"""Tables that are not folded from the journal: credentials, logins, idempotency keys, the ledger."""
