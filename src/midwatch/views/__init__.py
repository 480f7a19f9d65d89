"""What people look at: pure folds over the journal, the same live, in replay and in answers to `why`."""
