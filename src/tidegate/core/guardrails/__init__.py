"""What stands between the need and the count, in a fixed order, and what has to be noticed for it."""
