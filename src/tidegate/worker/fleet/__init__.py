"""What a worker shares with its whole fleet: permits, the retry budget, the heartbeat."""
