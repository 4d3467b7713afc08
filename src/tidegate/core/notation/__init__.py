"""Names, durations and paths as people and AWS write them."""
