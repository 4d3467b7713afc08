"""What was seen at a tick, and how far it can be trusted: the queue, the platform, the workers' reports."""
