"""The newest night as one value, folded over the journal: what a night that was killed is compared by."""
