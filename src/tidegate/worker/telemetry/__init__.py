"""What a worker has done and what it cost, counted as it happens."""
