"""What Midwatch needs from outside itself: each Protocol once, with the frozen values that cross it."""
