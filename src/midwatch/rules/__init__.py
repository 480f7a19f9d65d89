"""Pure decisions: facts in, a decision with its reasons out; no clock, no I/O, no chance, no prose read."""
