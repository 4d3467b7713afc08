"""State and heartbeats without DynamoDB: in memory, and in files on one machine."""
