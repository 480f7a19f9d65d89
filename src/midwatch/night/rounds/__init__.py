"""One round of the loop: sense, propose, judge, act."""
