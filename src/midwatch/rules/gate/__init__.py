"""The gate: a proposal and the facts in, a verdict with its reasons out."""
