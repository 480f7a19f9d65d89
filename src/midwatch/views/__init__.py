"""What people see: pure functions of entries and records, the same live, in replay and in answers to `why`."""
