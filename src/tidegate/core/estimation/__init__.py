"""What the signals say of the load, and what a pool learns of itself from tick to tick."""
