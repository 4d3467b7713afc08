"""From the queues to the slots: whose turn it is, one poll, and when the next may be sent."""
