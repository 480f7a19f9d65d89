"""Everything that touches code on disk: mirrors, checkouts, process limits, quarantine and checks."""
