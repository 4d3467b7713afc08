"""What is held of one queue: its leases and their heartbeat, its deletes, its notes."""
