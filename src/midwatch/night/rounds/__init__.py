"""One pass of the loop: what is sensed, proposed, judged and done."""
